"""The match that is checked, its refusal, and what is found to be wrong with it."""

import pytest

from domain.match.history import BrokenHistory, decode_refusal
from infra.audit.stored_match import check
from infra.store import outcomes
from tests.fakes.memory_store import MemoryStore

BOARD = 1
EVENTS = 9
"""Start, its acceptance, four moves, an offer, its answer, a move."""


def broken(store: MemoryStore) -> BrokenHistory:
    """Return the error that a check of the match ends with."""
    with pytest.raises(BrokenHistory) as caught:
        check(store, BOARD)
    return caught.value


REFUSAL = 2
"""The log index of the refusal, after the first two events."""


def the_refusal(store) -> tuple[bytes, outcomes.CommandOutcome]:
    """The refused command's id and outcome."""
    leaf = decode_refusal(store._logs[BOARD % 4][REFUSAL])
    return leaf.command, outcomes.parse(store.outcome(BOARD, leaf.command))
