"""The damaged matches of a store, for tests that look at many."""

from collections.abc import Iterable, Iterator

from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory
from infra.audit.stored_match import check
from infra.store.port import Store


def damaged_matches(store: Store, boards: Iterable[int]) -> Iterator[tuple[int, BrokenHistory]]:
    """Yield the boards of damaged matches with their first fault; skip boards without a match."""
    for board in boards:
        try:
            check(store, board)
        except BrokenHistory as broken:
            yield board, broken
        except Refusal as refusal:
            if refusal.code is not Code.UNKNOWN_BOARD:
                raise
