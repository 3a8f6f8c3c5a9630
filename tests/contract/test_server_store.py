"""What only the store on a server promises, what a commit that the server refuses leaves, and the port's guarantees about published leaves."""

from typing import Any

import msgspec
import pytest
from redis import Redis
from redis.client import Pipeline
from redis.crc import key_slot

from domain.match.history import NO_HASH, PackedSnapshot
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store import redis_store
from infra.store.layout import Layout, Numbering, initial_layout
from infra.store.outcomes import tail
from infra.store.port import NotDurable, Submission, Write
from infra.store.redis_store import RedisStore
from infra.store.watermarks import FLOOR_MS, FLOOR_STEP_MS

SUBMISSION = Submission(7, b"i" * 16, b"digest..", b"payload", b"account.", 0, "reply:1")


def make(client: Redis) -> RedisStore:
    store = RedisStore(client, Mode.FSYNC)
    store.create(Layout(shards=8, lanes=1))
    return store


def test_the_number_given_to_a_challenge_is_remembered_whatever_the_time(redis_client):
    make(redis_client).allocate(SUBMISSION.id)
    assert redis_client.ttl(keys.allocated(SUBMISSION.id)) == -1


def test_data_that_were_made_on_one_server_are_refused_on_a_cluster(cluster_client):
    store = RedisStore(cluster_client, Mode.FSYNC)
    layout = initial_layout(cluster_client, shards=4, lanes=8)
    assert store.create(layout) == Layout(4, 4, Numbering.SHARD)
    cluster_client.hset(keys.LAYOUT, "numbering", Numbering.SERVER)
    with pytest.raises(LookupError, match="made on one server, where one counter numbers all"):
        RedisStore(cluster_client, Mode.FSYNC).layout()


def test_the_recorded_layout_is_read(redis_client):
    layout = Layout(3, 2, Numbering.SHARD)
    assert RedisStore(redis_client, Mode.FSYNC).create(layout) == layout
    assert redis_client.hgetall(keys.LAYOUT) == {
        b"format": b"2",
        b"shards": b"3",
        b"tags": b"{s00.6id} {s01.7lq} {s02.5bm}",
        b"numbering": b"shard",
        b"lanes": b"2",
    }
    assert RedisStore(redis_client, Mode.FSYNC).layout() == layout


def test_watermarks_of_quiet_logs_write_nothing(redis_client):
    now = 1_795_100_400_000
    make(redis_client)
    store = RedisStore(redis_client, Mode.FSYNC, clock=lambda: now)
    first = store.watermark().at
    assert first == now
    now += FLOOR_STEP_MS
    assert store.watermark().at == now, "an event may have come at the time of the first"
    for _ in range(20):
        now += FLOOR_STEP_MS
        assert store.watermark().at == first + FLOOR_STEP_MS
    now += FLOOR_MS
    assert store.watermark().at == now


def test_only_the_newest_dead_letters_are_kept_and_no_attempts_at_them(redis_client, monkeypatch):
    monkeypatch.setattr(redis_store, "DEAD_LETTERS_KEPT", 2)
    store = make(redis_client)
    for number in range(4):
        store.submit([msgspec.structs.replace(SUBMISSION, payload=b"%d" % number)])
    for entry in store.read_inbox([7], 10):
        store.count_attempt(7, entry.id)
        store.dead_letter(entry)
    kept = redis_client.xrange(keys.dead_letters(7))
    assert [fields[b"c"] for _, fields in kept] == [b"2", b"3"]
    assert not redis_client.exists(keys.attempts(7))


class Unsynced(Pipeline):
    """A pipeline whose server never says that its log is on the disk."""

    def waitaof(self, *_: object) -> Any:
        return self.execute_command("EVAL", "return {0, 0}", 0)


class UnsyncedRedis(Redis):
    """A client that makes such pipelines."""

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:  # noqa: FBT001, FBT002 - as redis-py has it
        return Unsynced(self.connection_pool, self.response_callbacks, transaction, shard_hint)


@pytest.mark.parametrize("shards", [1, 4, 8, 12, 100])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_each_shard_is_in_one_lane(shards, count):
    lanes = keys.all_lanes(count)
    drained = [shard for lane in lanes for shard in lane.shards(shards)]
    assert sorted(drained) == list(range(shards))
    assert all(
        keys.lane_of(shard, count, shards) == lane
        for lane in lanes
        for shard in lane.shards(shards)
    )


def test_the_keys_of_a_shard_are_in_its_slot_and_no_two_shards_in_one():
    shards = range(keys.MOST_SHARDS)
    assert [key_slot(keys.log(shard).encode()) for shard in shards] == list(
        map(keys.slot_of, shards)
    )
    assert len(set(map(keys.slot_of, shards))) == keys.MOST_SHARDS


def test_leaves_are_durable_when_each_node_that_has_shown_some_confirms_a_write(
    cluster, cluster_client
):
    store = RedisStore(cluster_client, Mode.FSYNC)
    store.create(Layout(8, 1, Numbering.SHARD))
    for shard in range(8):
        cluster_client.xadd(keys.log(shard), {"l": b"leaf"}, id="0-1")
    for node in cluster.primaries:
        with node.client() as client:
            client.config_resetstat()
    assert len(store.durable_leaves(dict.fromkeys(range(8), 0), 10)) == 8
    for node in cluster.primaries:
        with node.client() as client:
            found = client.info("commandstats")
        # the barrier confirms what was written on its connection before
        assert found["cmdstat_hset"]["calls"] > 0
        assert found["cmdstat_waitaof"]["calls"] == 1


def test_data_of_another_program_are_refused(redis_client):
    store = RedisStore(redis_client, Mode.FSYNC)
    uses = (store.layout, lambda: store.create(Layout(8, 1)))
    with pytest.raises(LookupError, match="there is no data yet"):
        store.layout()
    for version, why in (
        ("9", "has format 9, and this version reads 2; use the version"),
        ("1", r"has format 1, which matchpost 0\.2 and earlier wrote"),
    ):
        redis_client.hset(keys.LAYOUT, mapping={"format": version, "shards": "8", "lanes": "1"})
        for use in uses:
            with pytest.raises(LookupError, match=why):
                use()
        assert len(redis_client.hgetall(keys.LAYOUT)) == 3, "nothing was added"
    redis_client.delete(keys.LAYOUT)
    make(redis_client)
    redis_client.hset(keys.LAYOUT, "tags", "{s00} {s01}")
    with pytest.raises(LookupError, match="other names of its shards"):
        RedisStore(redis_client, Mode.FSYNC).layout()


def test_what_is_not_known_to_be_on_disk_is_no_success(redis_client):
    make(redis_client).submit([SUBMISSION])
    store = RedisStore(UnsyncedRedis.from_pool(redis_client.connection_pool), Mode.FSYNC)
    (entry,) = store.read_inbox([7], 1)
    place = (7, entry.id, 7, SUBMISSION.id, NO_HASH, b"digest..", tail("", 1, ""))
    write = Write(*place, (b"e",), PackedSnapshot(b"h" * 32), due=1234, conditional_after=b"laid")
    with pytest.raises(NotDurable):
        store.commit([write])
    assert store.outcome(7, SUBMISSION.id) is not None
    assert redis_client.zrange(keys.due(7), 0, -1, withscores=True) == [(b"7", 1234)]
    assert redis_client.get(keys.conditional_moves(7, 7)) == b"laid"
    with pytest.raises(NotDurable):
        store.set_conditional_moves(7, b"h" * 32, b"laid", b"more")
    assert make(redis_client).set_conditional_moves(7, b"h" * 32, b"more", b"")
    assert not redis_client.exists(keys.conditional_moves(7, 7))


def test_every_key_of_a_shard_carries_its_tag():
    of_a_shard = (keys.inbox, keys.dead_letters, keys.attempts, keys.log, keys.due, keys.seed_chain)
    of_a_match = (keys.snapshot, keys.moves, keys.turns, keys.events, keys.locator, keys.outcomes)
    names = [key(7) for key in (*of_a_shard, keys.ended, keys.archived)]
    names += [key(7, 15) for key in (*of_a_match, keys.refusals, keys.conditional_moves)]
    assert all(name.startswith("{s07.a1y}:") for name in names)
    assert len(set(names)) == len(names)
