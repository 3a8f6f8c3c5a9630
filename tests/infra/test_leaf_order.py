"""The order of a shard's leaves: numbers that no match can have, seeds and anchors out of turn."""

import pytest

from domain.fairness import SetupDraw
from domain.match.events import Event, MatchStarted, Paused, Revealed, Sealed
from domain.match.history import NO_HASH, AnchorLeaf, EventEnvelope, encode_event
from infra.audit.leaf_order import LeafOrder
from infra.audit.leaf_totals import LeafTotals, leaf_number
from infra.log.merkle import root
from infra.log.tiles import WIDTH, TreeRebuild
from tests.helpers.leaves import TileTree

SHARDS = 4


def event(body: Event, seq: int = 1, board: int = 1, command: bytes = b"c" * 16) -> bytes:
    return encode_event(EventEnvelope(1, board, seq, 0, command, b"alice...", NO_HASH, body))


def anchor(chain: int) -> bytes:
    return encode_event(AnchorLeaf(1, 1, chain, bytes(32)))


def start(k: int, chain: int = 1) -> MatchStarted:
    draw = SetupDraw(chain, k, bytes(32), ())
    return MatchStarted(rules="x/1", options=(), seats=(), setup=None, next=0, draw=draw)


def faults(*leaves: bytes, shards: int = SHARDS) -> list[str]:
    order = LeafOrder(1, shards)
    for index, leaf in enumerate(leaves):
        order.add(index, leaf)
    return list(order.sentences())


@pytest.mark.parametrize("board", [-3, 1 << 40 | 1, (1 << 62) + 1])
def test_a_number_that_no_match_can_have_takes_no_memory(board):
    (said,) = faults(event(Paused(), board=board))
    assert f"is of match {board}, and there can be no such match yet" in said


def test_in_a_mirror_of_unknown_size_any_number_is_read():
    assert faults(event(Paused(), board=(1 << 62) + 1), shards=0) == []


def test_seeds_are_used_one_after_another():
    ok = [anchor(1), event(start(1)), event(start(2), board=5), anchor(2)]
    assert faults(*ok, event(start(1, 2), board=9)) == []
    for wrong in (start(2), start(3), start(2, 2), start(3, 1)):
        (said,) = faults(*ok, event(wrong, board=9))
        assert "and it is not the next after seed" in said


def test_a_sealed_seed_is_used_once():
    sealed = Sealed(chain=1, k=1, waits=(0,))
    revealed, began = Revealed(seat=0, text=b""), start(1)
    later = b"d" * 16
    leaves = [
        anchor(1),
        event(sealed),
        event(revealed, 2, command=later),
        event(began, 3, command=later),
        event(start(2), board=5, command=b"e" * 16),
    ]
    assert faults(*leaves) == []
    assert faults(leaves[0], leaves[1], event(began, 2)) == []


def test_an_anchor_out_of_turn_is_named():
    (said,) = faults(anchor(2))
    assert "anchors chain 2 of shard 1 out of turn" in said


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 511, 512, 600, 65_536, 65_536 + 257])
def test_a_tree_is_made_again_with_its_tiles(size):
    leaves = [b"%d" % number for number in range(size)]
    tree, tiles = TreeRebuild(), {}
    for first in range(0, size, WIDTH):
        tiles.update(tree.add(leaves[first : first + WIDTH]))
    tiles.update(tree.unfinished())
    known = TileTree(size, lambda tile: b"".join(tiles[tile]))
    assert tree.root() == root(size, known.node)
    assert tree.size == size


def test_totals_tell_leaves_and_places_apart():
    totals, secret = LeafTotals(), bytes(32)
    numbers = [leaf_number(secret, index, b"leaf") for index in range(3)]
    assert len({*numbers, leaf_number(secret, 0, b"other"), leaf_number(b"s", 0, b"leaf")}) == 5
    for number in numbers:
        totals.add(7, number)
    assert totals.cut(0, 10).of(7) == (3, sum(numbers) % 2**64)
    assert totals.cut(5, 20).of(7) == totals.cut(7, 8).of(7)
    assert totals.cut(5, 20).of(12) == (0, 0)
