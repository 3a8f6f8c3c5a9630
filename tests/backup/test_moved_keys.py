"""The copy of all keys to another server, of every type, and the marks at both by which at most one is used."""

from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from infra.durability.durability import Mode
from infra.redis import key_copy, keys
from infra.redis.clients import make_client
from infra.redis.key_copy import KeyCopier, KeyCopyError, differing_keys, missing_keys
from infra.store.board_numbers import BoardNumbers
from infra.store.layout import Layout, Numbering, create_layout, read_layout
from infra.store.moving import MoveError, Source, Stage, Target, copy_all, find_differences
from infra.valkey.server import EmbeddedServer

SHARDS = 4


@pytest.fixture
def other(own_valkey: EmbeddedServer) -> Iterator[Redis]:
    with own_valkey.client() as client:
        client.flushall()
        yield client


@pytest.fixture(params=["server", "cluster"])
def target(request: pytest.FixtureRequest) -> Target:
    name = "other" if request.param == "server" else "cluster_client"
    return Target(request.getfixturevalue(name), "here", Mode.FSYNC, 1)


def copied_to(other: Redis, client: Redis) -> None:
    KeyCopier(client, Target(other, "here", Mode.FSYNC, 1).write).run(none)


def none(_: bytes) -> bool:
    return False


def ticks(_: int) -> None:
    """Nobody looks on."""


def fill(client: Redis, soon: int = 3_600_000) -> None:
    """Write keys of each type: small, of several parts, with an end."""
    many = range(2 * key_copy.PART + 7)
    client.set("text", b"\x00\xff")
    client.set("b", b"")
    client.set("long", bytes(i % 251 for i in range(600_000)))
    client.set("ends", "x", px=soon)
    client.rpush("list", *many)
    client.sadd("set", *many)
    client.zadd("sorted", {str(i): i / 3 for i in many})
    client.zadd("times", {"a": 1_780_000_000_123, "b": float("inf")})
    client.hset("fields", mapping={f"f{i}": i for i in many})
    client.hset("small", mapping={b"\x80": b"\xfe"})
    client.pexpire("small", soon)
    for index in many:
        client.xadd("log", {"l": b"\x01%d" % index}, id=f"{index}-1")
    client.xadd("inbox", {"c": "x", "t": "1"}, id="7-0")
    client.xdel("inbox", "7-0")
    client.xadd("cut", {"a": "1"}, id="1-0")
    client.xadd("cut", {"a": "2"}, id="2-0")
    client.xtrim("cut", maxlen=1)


def test_keys_of_every_type_are_the_same_afterwards(redis_client, target):
    fill(redis_client)
    seen: list[int] = []
    assert KeyCopier(redis_client, target.write, seen.append).run(none) == 13
    assert seen == [13]
    there = target.client
    assert [*differing_keys(redis_client, there, none)] == []
    assert [*missing_keys(there, redis_client, none)] == []
    assert there.get("long") == redis_client.get("long")
    assert there.hgetall("fields") == redis_client.hgetall("fields")
    assert there.smembers("set") == redis_client.smembers("set")
    assert there.pexpiretime("ends") == redis_client.pexpiretime("ends") > 0
    assert there.xrange("log") == redis_client.xrange("log")
    for stream in ("log", "inbox", "cut"):
        ours, theirs = redis_client.xinfo_stream(stream), there.xinfo_stream(stream)
        for name in ("length", "last-generated-id", "entries-added", "max-deleted-entry-id"):
            assert ours[name] == theirs[name], (stream, name)


CHANGES: dict[str, Any] = {
    "text": lambda c: c.set("text", "y"),
    "long": lambda c: c.setrange("long", 599_999, "y"),
    "ends": lambda c: c.persist("ends"),
    "list": lambda c: c.lset("list", 1_000, "y"),
    "set": lambda c: c.srem("set", 3) and c.sadd("set", "y"),
    "sorted": lambda c: c.zadd("sorted", {"1006": 1}),
    "fields": lambda c: c.hset("fields", "f1006", "y"),
    "small": lambda c: c.hset("small", "more", "y"),
    "log": lambda c: c.xdel("log", "1006-1"),
    "inbox": lambda c: c.xadd("inbox", {"c": "y"}) and c.xtrim("inbox", maxlen=0),
    "b": lambda c: c.delete("b"),
    "times": lambda c: c.delete("times") and c.set("times", 1),
}


def test_whatever_is_another_one_is_found(redis_client, other):
    fill(redis_client)
    copied_to(other, redis_client)
    for key, change in CHANGES.items():
        kept, until = other.dump(key), max(0, other.pexpiretime(key))
        change(other)
        assert [*differing_keys(redis_client, other, none)] == [key.encode()]
        other.restore(key, until, kept, replace=True, absttl=True)
    assert [*differing_keys(redis_client, other, none)] == []
    other.set("more", 1)
    assert [*missing_keys(other, redis_client, none)] == [b"more"]


def test_a_key_that_ends_soon_is_no_difference(redis_client, other):
    fill(redis_client, soon=20_000)
    copied_to(other, redis_client)
    other.delete("ends", "small")
    assert [*differing_keys(redis_client, other, none)] == []
    redis_client.delete("ends", "small")
    other.set("ends", 1, px=20_000)
    assert [*missing_keys(other, redis_client, none)] == []


def test_a_type_that_is_not_written_is_refused(redis_client, other, monkeypatch):
    redis_client.rpush("list", 1)
    monkeypatch.setattr(key_copy, "_KINDS", {})
    with pytest.raises(KeyCopyError, match="'list' is of the type list, which this program never"):
        copied_to(other, redis_client)


def test_boards_are_numbered_on_and_a_repeated_start_keeps_its_number(redis_client, target):
    layout = Layout(SHARDS, 2)
    create_layout(redis_client, layout)
    before = BoardNumbers(redis_client, layout)
    ids = [index.to_bytes(16) for index in range(603)]
    given = dict(zip(ids, before.allocate_all(ids), strict=True))
    source = Source(redis_client)
    with source:
        target.begin()
        copy_all(source, target, ticks)
        assert find_differences(source, target, ticks) == []
        there = target.give_layout(source.fields())
        source.mark_moved("there", 5)
    target.finish(6)
    assert (there.numbering is Numbering.SHARD) == hasattr(target.client, "slots")
    assert read_layout(target.client) == Layout(SHARDS, 2, there.numbering)
    after = BoardNumbers(target.client, there)
    assert after.find([*given]) == [*given.values()]
    assert after.allocate_all([*given]) == [*given.values()]
    fresh = after.allocate_all([b"%016d" % n for n in range(40)])
    assert len({*fresh, *given.values()}) == 643
    for shard in range(SHARDS):
        mine = [board for board in (*fresh, *given.values()) if board % SHARDS == shard]
        assert max(mine) <= after.highest_of(shard)


def test_at_most_one_server_is_used_at_every_moment(redis_client, target):
    create_layout(redis_client, Layout(SHARDS, 2))
    source, there = Source(redis_client), target.client
    assert target.stage() is Stage.EMPTY
    with source:
        target.begin()
        assert target.stage() is Stage.COPYING
        with pytest.raises(LookupError, match="are being copied here from here; if the copy was"):
            read_layout(there)
        there.set("left-over", 1)
        target.begin()
        assert there.exists("left-over") == 0
        copy_all(source, target, ticks)
        target.give_layout(source.fields())
        assert target.stage() is Stage.COPIED
        with pytest.raises(LookupError, match="not verified: run `matchpost move-to` again"):
            create_layout(there, Layout(SHARDS, 2))
        assert not source.has_moved()
        source.mark_moved("there", 5)
    assert source.has_moved()
    with pytest.raises(LookupError, match="the data were moved to there: set MATCHPOST_REDIS_URL"):
        read_layout(redis_client)
    target.finish(6)
    assert target.stage() is Stage.MOVED
    create_layout(there, Layout(SHARDS, 1))
    assert there.hget(keys.LAYOUT, "moved") == b"6"
    assert there.hget(keys.LAYOUT, "from") == b"here"
    with pytest.raises(MoveError, match="the server has other data: name an empty one"):
        Target(there, "elsewhere", Mode.FSYNC, 1).stage()
    # and back
    with Source(redis_client) as again:
        assert find_differences(again, target, ticks) == []
        target.give_up()
        again.take_back()
    assert read_layout(redis_client) == Layout(SHARDS, 2)
    with pytest.raises(LookupError, match="are being copied here"):
        read_layout(there)


@pytest.mark.parametrize("key", ["theirs", "{a}", "{b}", "{c}"])  # of all nodes
def test_a_server_with_other_keys_is_refused_by_name(target, key):
    target.client.set(key, 1)
    with pytest.raises(MoveError, match=f"not empty, it has 1 key, such as {key}: name an empty"):
        target.stage()


def test_writes_wait_while_data_are_moved_and_are_dropped_when_they_are(valkey, redis_client):
    create_layout(redis_client, Layout(SHARDS, 2))
    with valkey.client() as late, Source(redis_client) as source:
        connection = late.connection_pool.get_connection()
        connection.send_command("SET", "late", 1)
        assert redis_client.get("late") is None
        assert not connection.can_read(timeout=0.2)
        source.mark_moved("there", 5)
        assert redis_client.get("late") is None
        connection.disconnect()
    assert redis_client.set("later", 1)
    with Source(redis_client):
        pass
    assert redis_client.set("again", 1)


def test_the_queue_of_the_same_server_stays_behind(redis_client, other):
    create_layout(redis_client, Layout(SHARDS, 2))
    signals = ("rq:queue:x", "{lease:0/3}:wake", "{beats}", "durable", "durable:abc")
    for name in (*signals, "durables", keys.published(0)):
        redis_client.hset(name, "size", 1)
    target = Target(other, "here", Mode.FSYNC, 1)
    with Source(redis_client) as source:
        assert copy_all(source, target, ticks) == 2
        assert find_differences(source, target, ticks) == []
    assert sorted(other.keys()) == [b"durables", keys.published(0).encode()]


def test_a_user_who_can_not_stop_the_writes_is_named(valkey, redis_client):
    rights = ["+@all", "-client|pause"]
    redis_client.acl_setuser("weak", enabled=True, nopass=True, keys=["*"], commands=rights)
    refused = r"let its writes wait .*: let MATCHPOST_REDIS_URL name a user who may do all"
    url = f"{valkey.url}?username=weak&password=x"
    with make_client(url) as weak, pytest.raises(MoveError, match=refused):
        Source(weak).__enter__()
    redis_client.acl_deluser("weak")


def test_what_replicas_do_not_confirm_is_not_copied(other):
    with pytest.raises(MoveError, match="did not confirm in time that what was copied is on its"):
        Target(other, "here", Mode.REPLICATED, 1).begin()
