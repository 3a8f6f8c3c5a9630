"""A sample of the tamper tests; `tests/tamper/run.py` makes as many as are asked for."""

from collections.abc import Iterator

import pytest

from tests.tamper.changes import FILES, RECORDS
from tests.tamper.run import STOPPED, TamperBench, tamper_bench

SAMPLE = 104
"""Four of each kind."""


@pytest.fixture(scope="module")
def bench() -> Iterator[TamperBench]:
    with tamper_bench() as bench:
        yield bench


def test_there_is_something_of_every_kind_to_change(bench: TamperBench) -> None:
    assert bench.tampering.kinds == {*RECORDS, *FILES}


def test_every_change_is_found(bench: TamperBench) -> None:
    found = {seed: bench.find(seed) for seed in range(SAMPLE)}
    missed = {
        seed: one.change for seed, one in found.items() if not one.who or STOPPED in one.sentence
    }
    assert missed == {}
    assert {one.change.kind for one in found.values()} == bench.tampering.kinds
    assert all(": " in one.sentence or "shard" in one.sentence for one in found.values())
