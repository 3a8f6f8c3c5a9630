"""Audits of logs and matches, and chains of seeds: none used twice, none skipped, none lost unnoticed."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from domain.fairness import CHAIN_LENGTH, SetupDraw, earlier_seed, previous_seed
from domain.match import history
from domain.match.events import Event, MatchStarted, Paused, Revealed, Sealed
from domain.match.history import NO_HASH, AnchorLeaf, BrokenHistory, EventEnvelope, encode_event
from infra.audit.draws import KnownSeeds, check_draw
from infra.audit.leaf_order import LeafFacts, LeafOrder
from infra.audit.log import audit_page, counter_faults, first_difference
from infra.audit.stored_match import anchors_in, read_leaves
from infra.durability.durability import Mode
from infra.log.merkle import root
from infra.log.tiles import WIDTH, TreeRebuild
from infra.redis import keys
from infra.store.layout import Layout
from infra.store.port import Store
from infra.store.redis_store import RedisStore
from infra.store.seed_chains import RETRY_SECONDS, ChainExhausted, LostSeedsError, SeedChains
from tests.fakes.memory_store import MemoryStore
from tests.golden.make_events import MATCHES
from tests.helpers.leaves import TileTree

LEAF_SHARDS = 4


def event(body: Event, seq: int = 1, board: int = 1, command: bytes = b"c" * 16) -> bytes:
    return encode_event(EventEnvelope(1, board, seq, 0, command, b"alice...", NO_HASH, body))


def anchor(chain: int) -> bytes:
    return encode_event(AnchorLeaf(1, 1, chain, bytes(32)))


def start(k: int, chain: int = 1) -> MatchStarted:
    draw = SetupDraw(chain, k, bytes(32), ())
    return MatchStarted(rules="x/1", options=(), seats=(), setup=None, next=0, draw=draw)


def faults(*leaves: bytes, shards: int = LEAF_SHARDS) -> list[str]:
    order = LeafOrder(1, shards)
    for index, leaf in enumerate(leaves):
        order.add(index, leaf)
    return list(order.sentences())


def test_a_number_that_no_match_can_have_takes_no_memory():
    for board in (-3, 1 << 40 | 1, (1 << 62) + 1):
        (said,) = faults(event(Paused(), board=board))
        assert f"is of match {board}, and there can be no such match yet" in said
    # in a mirror of unknown size any number is read
    assert faults(event(Paused(), board=(1 << 62) + 1), shards=0) == []
    (said,) = faults(anchor(2))
    assert "anchors chain 2 of shard 1 out of turn" in said


def test_seeds_are_used_one_after_another():
    ok = [anchor(1), event(start(1)), event(start(2), board=5), anchor(2)]
    assert faults(*ok, event(start(1, 2), board=9)) == []
    for wrong in (start(2), start(3), start(2, 2), start(3, 1)):
        (said,) = faults(*ok, event(wrong, board=9))
        assert "and it is not the next after seed" in said
    # a sealed one is used once
    sealed, later = Sealed(chain=1, k=1, waits=(0,)), b"d" * 16
    leaves = [
        anchor(1),
        event(sealed),
        event(Revealed(seat=0, text=b""), 2, command=later),
        event(start(1), 3, command=later),
        event(start(2), board=5, command=b"e" * 16),
    ]
    assert faults(*leaves) == faults(*leaves[:2], event(start(1), 2)) == []


def test_a_tree_is_made_again_with_its_tiles():
    for size in (0, 1, 255, 256, 257, 511, 512, 600, 65_536 + 257):
        leaves = [b"%d" % number for number in range(size)]
        tree, tiles = TreeRebuild(), {}
        for first in range(0, size, WIDTH):
            tiles.update(tree.add(leaves[first : first + WIDTH]))
        tiles.update(tree.unfinished())
        known = TileTree(size, lambda tile, tiles=tiles: b"".join(tiles[tile]))
        assert tree.root() == root(size, known.node)
        assert tree.size == size


SHARD, SHARDS = 1, 4


def test_the_first_leaf_that_is_not_the_published_one_is_found():
    for rows, first in (
        ([(4, b"e"), (5, b"f"), (6, b"g")], None),
        ([(3, b"any"), (4, b"e")], None),
        ([(4, b"e"), (5, b"other"), (6, b"g")], 5),
        ([(6, b"other"), (7, b"not published")], 6),
        ([], None),
    ):
        assert first_difference(rows, [b"e", b"f", b"g"], 4) == first


def test_a_page_of_the_log_is_compared_leaf_by_leaf(redis_client: Redis):
    # what is not published is not trimmed either
    redis_client.xadd(keys.log(SHARD), {"l": b"c"}, "2-1")
    assert audit_page(redis_client, SHARD, range(3), {}, 1).faults == ["leaf 1 is missing"]
    for id_, field, value in (
        *(("3-1", "l", b"other"), ("5-1", "x", b"f"), ("6-1", "l", b"g")),
        *(("6-7", "l", b"one more"), ("8-1", "l", b"i")),
    ):
        redis_client.xadd(keys.log(SHARD), {field: value}, id_)
    published = {index: b"%c" % (ord("a") + index) for index in range(7)}
    found = audit_page(redis_client, SHARD, range(8), published, 7)
    assert dict(found.leaves) == {2: b"c", 3: b"other", 6: b"g"}
    assert found.faults == [
        "leaf 3 is another one than the published leaf, which is signed",
        "leaf 5 in the data can't be read: {b'x': b'f'}",
        "the data have an entry 6-7, which is no leaf",
        "leaf 4 is missing in the data, and is published",
        "leaf 7 is missing",
    ]


def test_counters_that_can_not_be_read_are_named(redis_client: Redis):
    store = RedisStore(redis_client, Mode.NONE)
    store.create(Layout(SHARDS, 1))
    facts = LeafFacts(SHARD, SHARDS)
    facts.add(0, encode_event(AnchorLeaf(1, SHARD, 1, bytes(32))))
    fields = {"chain": "1", "k": "0", "anchor": bytes(32).hex(), "index:1": "0"}
    redis_client.hset(keys.seed_chain(SHARD), mapping=fields)
    assert list(counter_faults(redis_client, store, facts)) == []
    redis_client.hset(keys.seed_chain(SHARD), "anchor", bytes(range(32)).hex())
    (other,) = counter_faults(redis_client, store, facts)
    assert other.sentence == "the anchor of chain 1 of shard 1 is another than in leaf 0"
    redis_client.hset(keys.seed_chain(SHARD), "k", "no number")
    (unread,) = counter_faults(redis_client, store, facts)
    assert unread.sentence.startswith("the counters of shard 1 can't be read: ValueError(")


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


def test_a_leaf_that_can_not_be_read_hides_no_other_and_a_negative_index_is_asked_of_nobody():
    log = _Log()
    assert read_leaves(log, 1, [-1, 2]) == {2: b"c"}
    assert log.asked == [2]
    assert read_leaves(_Log(), 1, [2, 1, 0, 7]) == {0: b"a", 2: b"c"}


def test_a_draw_without_its_anchor_is_found():
    events = list(map(history.decode_event, MATCHES["committed"]().events))
    for anchored, said in (
        (None, "chain 1 of seeds, from which it draws, was never anchored"),
        (-1, "leaf -1 of shard 1's log is missing"),
        (7, "leaf 7 of shard 1's log is missing"),
        (2, "its seed does not lead back to the chain's anchor"),
    ):
        with pytest.raises(BrokenHistory, match=said):
            check_draw(1, events, range(9, 99), anchors_in(_Log(anchored), 1), KnownSeeds())


@pytest.fixture(params=["memory", "valkey"])
def store(request: pytest.FixtureRequest) -> Store:
    if request.param == "valkey":
        return request.getfixturevalue("on_server")
    made = MemoryStore()
    made.create(Layout(shards=4, lanes=1))
    return made


@pytest.fixture
def on_server(redis_client: Redis) -> RedisStore:
    made = RedisStore(redis_client, Mode.FSYNC)
    made.create(Layout(shards=4, lanes=1))
    return made


def test_seeds_hash_to_an_anchor_that_is_a_leaf_already_and_each_to_the_one_before(store, tmp_path):
    seeds = SeedChains(store, tmp_path / "seeds")
    found = [seeds.next(2)]
    ((index, leaf),) = store.leaves(2, 0, 10)
    anchor = history.decode_anchor(leaf)
    assert (anchor.shard, anchor.chain, index) == (2, 1, store.anchor_index(2, 1))
    assert previous_seed(found[0].seed) == anchor.anchor
    # one that was not used is given again, also by another process
    assert found[0] == seeds.next(2) == SeedChains(store, tmp_path / "seeds").next(2)
    for _ in range(300):
        found.append(seeds.next(2, found[-1]))
    assert [(seed.chain, seed.k) for seed in found] == [(1, k) for k in range(1, 302)]
    assert all(previous_seed(b.seed) == a.seed for a, b in itertools.pairwise(found))
    assert seeds.next(1).seed != found[0].seed
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "seeds").iterdir()} == {0o600}
    assert (tmp_path / "seeds").stat().st_mode & 0o777 == 0o700
    # a chain is anchored once, and without its secret no other is begun
    with pytest.raises(LostSeedsError, match="is missing"):
        SeedChains(store, tmp_path / "elsewhere").next(2)
    assert store.seed_chain(2).chain == 1
    assert not store.anchor(2, 1, bytes(32), b"leaf")
    assert not store.anchor(2, 3, bytes(32), b"leaf")
    assert len(store.leaves(2, 0, 10)) == 1


def test_a_used_up_chain_is_followed_by_the_next(redis_client, on_server, tmp_path: Path) -> None:
    seeds = SeedChains(on_server, tmp_path)
    first = seeds.next(0)
    redis_client.hset(keys.seed_chain(0), "k", CHAIN_LENGTH - 1)
    last = seeds.next(0)
    assert last.k == CHAIN_LENGTH
    assert earlier_seed(last.seed, CHAIN_LENGTH - 1) == first.seed
    with pytest.raises(ChainExhausted):
        seeds.next(0, last)
    redis_client.hset(keys.seed_chain(0), "k", CHAIN_LENGTH)
    following = seeds.next(0)
    assert (following.chain, following.k) == (2, 1)
    assert len(on_server.leaves(0, 0, 10)) == 2
    # seeds of data that is gone are not used again
    redis_client.flushall()
    on_server.create(Layout(shards=4, lanes=1))
    assert SeedChains(on_server, tmp_path).next(0).seed != first.seed


def test_seeds_that_are_back_are_found_and_their_loss_is_logged_once(on_server, tmp_path, caplog):
    mine, seeds = (
        SeedChains(on_server, tmp_path / "seeds"),
        SeedChains(on_server, tmp_path / "other"),
    )
    assert mine.lost_shards() == []
    mine.next(0)
    assert (mine.lost_shards(), seeds.lost_shards()) == ([], [0])
    for _ in range(3):
        with pytest.raises(LostSeedsError, match="is missing"):
            seeds.next(0)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    (tmp_path / "seeds").rename(tmp_path / "other")
    seeds._failures = {key: (at - RETRY_SECONDS, why) for key, (at, why) in seeds._failures.items()}
    assert seeds.next(0).k == 1
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
