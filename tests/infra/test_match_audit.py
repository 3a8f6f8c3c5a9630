"""Leaves that an audit asks a store for: missing ones are left out, whatever the index is."""

from typing import Any

import pytest

from domain.match.history import BrokenHistory, decode_event
from infra.audit.draws import KnownSeeds, check_draw
from infra.audit.stored_match import anchors_in, read_leaves
from infra.store.port import Store
from tests.golden.make_events import MATCHES


class _Log(Store):
    """A log of three leaves, of which one can't be read; `anchored` is where the chain of seeds is said to begin."""

    def __init__(self, anchored: int | None = None) -> None:
        self._anchored = anchored
        self.asked: list[int] = []

    def leaves_at(self, _shard: int, indexes: Any) -> list[bytes | None]:
        self.asked += indexes
        if 1 in indexes:
            raise ValueError("no leaf")
        return [{0: b"a", 2: b"c"}.get(index) for index in indexes]

    def leaves(self, _shard: int, start: int, _count: int) -> list[tuple[int, bytes]]:
        if start == 1:
            raise ValueError("no leaf")
        return [(index, leaf) for index, leaf in ((0, b"a"), (2, b"c")) if index >= start][:1]

    def anchor_index(self, _shard: int, _chain: int) -> int | None:
        return self._anchored


def test_a_leaf_that_can_not_be_read_hides_no_other():
    assert read_leaves(_Log(), 1, [2, 1, 0, 7]) == {0: b"a", 2: b"c"}


def test_a_negative_index_is_asked_of_nobody():
    log = _Log()
    assert read_leaves(log, 1, [-1, 2]) == {2: b"c"}
    assert log.asked == [2]


@pytest.mark.parametrize(
    ("anchored", "said"),
    [
        (None, "chain 1 of seeds, from which it draws, was never anchored"),
        (-1, "leaf -1 of shard 1's log is missing"),
        (7, "leaf 7 of shard 1's log is missing"),
        (2, "its seed does not lead back to the chain's anchor"),
    ],
)
def test_a_draw_without_its_anchor_is_found(anchored, said):
    events = list(map(decode_event, MATCHES["committed"]().events))
    with pytest.raises(BrokenHistory, match=said):
        check_draw(1, events, range(9, 99), anchors_in(_Log(anchored), 1), KnownSeeds())
