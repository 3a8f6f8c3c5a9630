"""Guarantees of `infra.store.port` that no run of `test_store_model.py` meets: layout, published leaves, closed shards, clocks."""

import msgspec
import pytest
from redis import Redis

from domain.match.events import Ended, Moved
from domain.match.history import NO_HASH, EventEnvelope, PackedSnapshot, encode_event
from infra.durability.durability import Mode
from infra.store import port
from infra.store.closed_shards import ClosedShards, forked
from infra.store.layout import Layout
from infra.store.log_streams import ShardNews
from infra.store.outcomes import tail
from infra.store.port import Store
from infra.store.redis_store import RedisStore
from tests.fakes.memory_store import MemoryStore
from tests.helpers.proposals import Clock
from tests.helpers.writes import ALICE, BOARD, SHARD, moved, queue, submission

BEGIN = Clock().now
SECOND = 1_000


def test_the_layout_of_existing_data_stays_and_its_lanes_are_changed_when_that_is_asked_for(store):
    layout = store.layout()
    assert store.create(Layout(shards=64, lanes=2)) == store.layout() == layout
    wanted = msgspec.structs.replace(layout, lanes=3)
    assert store.change_lanes(3) == store.layout() == wanted
    for lanes in (0, 5):
        with pytest.raises(ValueError, match="from 1 to 4"):
            store.change_lanes(lanes)
        with pytest.raises(ValueError, match="from 1 to 4"):
            store.create(Layout(shards=4, lanes=lanes))
    assert store.layout() == wanted


def test_the_end_of_a_log_with_many_new_leaves_is_found(store):
    for chain in range(1, 13):
        assert store.anchor(SHARD, chain, bytes(32), b"leaf")
    _, found = store.news([0] * 4)
    assert found[SHARD] == ShardNews(waiting=False, end=12, only_moves=False)


def test_news_tell_moves_from_all_else(store):
    def only_moves(start: int) -> bool:
        return store.news([start if shard == SHARD else 0 for shard in range(4)])[1][
            SHARD
        ].only_moves

    bodies = [Moved(1, 0, "a1", next=1), Moved(2, 1, "b2", next=None), Ended((1,), "won")]
    for seq, body in enumerate(bodies, 1):
        leaf = encode_event(EventEnvelope(1, BOARD, seq, 0, bytes(16), ALICE, NO_HASH, body))
        assert store.anchor(SHARD, seq, bytes(32), leaf)
        assert only_moves(0) is (seq < 3)
    assert only_moves(3)
    assert not only_moves(2)


def submission_to(board: int) -> port.Submission:
    return port.Submission(board, b"%016d" % board, b"digest..", b"payload", ALICE, 0, "reply:1")


def commit_first(store: Store, *boards: int) -> list[port.CommitResult]:
    """Commit the first event of each match, whose command waits alone in its shard."""
    writes = []
    for board in boards:
        (entry,) = store.read_inbox([board % 4], 1)
        place = (board % 4, entry.id, board, b"%016d" % board, NO_HASH, b"digest..", tail("", 1))
        writes.append(port.Write(*place, (b"event %d" % board,), PackedSnapshot(b"h" * 32)))
    return store.commit(writes)


def test_nothing_is_written_below_the_published_size(store):
    store.published = lambda shard: 1 if shard == 0 else 0
    store.submit([submission_to(4), submission_to(5)])
    closed, done = commit_first(store, 4, 5)
    assert closed == port.LogCutOff(0)
    assert isinstance(done, port.CommitDone)
    assert store.inbox_size([0]) == 1, "the command waits"
    assert (store.events(4), store.outcomes(4)) == ([], {})
    with pytest.raises(port.ShardClosedError):
        store.anchor(0, 1, bytes(32), b"leaf")
    assert (store.leaves(0, 0, 10), store.seed_chain(0)) == ([], None)
    store.published = lambda _: 0
    assert isinstance(commit_first(store, 4)[0], port.CommitDone)
    assert store.anchor(0, 1, bytes(32), b"leaf")


def test_a_closed_shard_commits_nothing(store):
    store.submit([submission_to(4), submission_to(5)])
    if isinstance(store, MemoryStore):
        store.closed.add(0)
    else:
        ClosedShards(store._client).close(0, forked(0, 0))
    closed, done = commit_first(store, 4, 5)
    assert closed == port.CommitClosed()
    assert isinstance(done, port.CommitDone)
    assert store.leaves(0, 0, 10) == []
    assert store.inbox_size([0]) == 1, "the command waits"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "valkey"])
def clocked(request: pytest.FixtureRequest, clock: Clock) -> Store:
    if request.param == "memory":
        made: Store = MemoryStore(clock)
    else:
        client: Redis = request.getfixturevalue("redis_client")
        made = RedisStore(client, Mode.FSYNC, clock=clock)
    made.create(Layout(shards=4, lanes=1))
    return made


def test_the_watermark_is_the_received_time_of_the_oldest_command_that_waits(clocked, clock):
    (first,) = queue(clocked, 1)
    clock.now += SECOND
    clocked.submit([submission(2, board=4)])
    assert clocked.watermark().at == first.received == BEGIN
    clocked.commit([moved(first, 1, before=0)])
    assert clocked.watermark().at == BEGIN + SECOND


def test_nothing_is_received_before_the_last_watermark_though_the_clock_steps_back(clocked, clock):
    promised = clocked.watermark().at
    assert promised == BEGIN
    clock.now -= 90 * SECOND
    (entry,) = queue(clocked, 1)
    assert entry.received == clocked.watermark().at == promised
    clocked.commit([moved(entry, 1, before=0)])
    clock.now = BEGIN + 1
    clocked.submit([submission(2)])
    (entry,) = clocked.read_inbox([entry.shard], 10)
    assert entry.received == BEGIN + 1, "the clock is there again"


def test_no_command_is_received_before_one_that_waits_in_its_inbox(clocked, clock):
    (first,) = queue(clocked, 1)
    clock.now -= 90 * SECOND
    clocked.submit([submission(2, board=BOARD)])
    promised = clocked.watermark().at
    clocked.commit([moved(first, 1, before=0)])
    (second,) = clocked.read_inbox([first.shard], 10)
    assert promised <= second.received == first.received


def test_a_clock_that_ran_far_ahead_is_believed_when_it_is_put_right(clocked, clock):
    clock.now = ahead = BEGIN + port.MOST_AHEAD_MS + 1
    clocked.watermark()
    clocked.submit([submission(1)])
    clock.now = BEGIN
    clocked.submit([submission(2)])
    received = [entry.received for entry in clocked.read_inbox([0, 1, 2, 3], 10)]
    assert received == [ahead, BEGIN], "no turn loses more than that"
