"""Matches that are over, of which a retirement takes the files and leaves Redis."""

from pathlib import Path

import pytest

from domain.match.commands import PlayMove, ResignMatch
from tests.helpers.archiving import Archiving
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.workers.retire.ended_matches import ACTIVE, LATER_OVER, OVER


@pytest.fixture
def bench(bench: Bench) -> Bench:
    """Two matches that are over, with a refusal each, and one that goes on."""
    made = bench
    made.start(OVER, ACTIVE, LATER_OVER)
    for board in (OVER, ACTIVE, LATER_OVER):
        made.send(ALICE, PlayMove(text="m13-j7"), board)
        made.send(ALICE, PlayMove(text="a1-a2"), board)
        made.drain()
    for board in (OVER, LATER_OVER):
        made.send(BOB, ResignMatch(), board)
        made.drain()
    return made


@pytest.fixture
def archiving(bench: Bench, tmp_path: Path) -> Archiving:
    return Archiving(bench.client, bench.store, tmp_path / "log")
