"""A commit that the server refuses has written nothing: no memory, or a key of the wrong type."""

from collections.abc import Callable

import msgspec
import pytest
from redis import Redis
from redis.exceptions import ResponseError

from domain.match.history import NO_HASH, PackedSnapshot
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.kept_texts import RefusedId
from infra.store.layout import Layout
from infra.store.outcomes import tail
from infra.store.port import CommitDone, Submission, Write
from infra.store.redis_store import RedisStore

BOARD = SHARD = 7
SUBMISSION = Submission(BOARD, b"i" * 16, b"digest..", b"payload", b"account.", 0, "reply:1")


@pytest.fixture
def store(redis_client: Redis) -> RedisStore:
    made = RedisStore(redis_client, Mode.FSYNC)
    made.create(Layout(shards=8, lanes=1))
    made.submit([SUBMISSION])
    return made


def write(store: RedisStore, kind: str) -> Write:
    """What is committed for the command that waits: a move that touches every key, or a refusal."""
    (entry,) = store.read_inbox([SHARD], 1)
    refusal = Write(
        SHARD, entry.id, BOARD, SUBMISSION.id, NO_HASH, b"digest..", tail("no", 1, ""), (b"e",), None,
        refusal_field="x", actor=SUBMISSION.actor, kept=b"a command",
    )  # fmt: skip
    if kind == "refusal":
        return refusal
    return msgspec.structs.replace(
        refusal,
        tail=tail("", 1, ""),
        snapshot=PackedSnapshot(b"h" * 32, b"move", b"turn"),
        refusal_field="",
        kept=b"",
        due=1234,
        ended=1234,
        conditional_before=b"prepared",
        conditional_after=b"more",
    )


def everything(client: Redis) -> dict[bytes, object]:
    """What is stored, but for the inbox, by the server's own form of it."""
    return {name: client.dump(name) for name in client.scan_iter() if not name.endswith(b":in")}


OF_SHARD = (keys.due, keys.attempts, keys.log, keys.ended, keys.archived)
OF_MATCH = (
    keys.snapshot,
    keys.moves,
    keys.turns,
    keys.events,
    keys.locator,
    keys.outcomes,
    keys.conditional_moves,
)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *(("move", key(SHARD)) for key in OF_SHARD),
        # a refusal ends no match, and changes no due time
        *(("refusal", key(SHARD)) for key in (keys.attempts, keys.log, keys.archived)),
        *(("move", key(SHARD, BOARD)) for key in OF_MATCH),
        *(
            ("refusal", key(SHARD, BOARD))
            for key in (keys.snapshot, keys.outcomes, keys.locator, keys.refusals)
        ),
        ("refusal", keys.refused(SHARD, SUBMISSION.actor)),
    ],
)
def test_a_commit_that_meets_a_key_of_another_type_has_written_nothing(
    redis_client: Redis, store: RedisStore, kind: str, wrong: str
) -> None:
    new = write(store, kind)
    redis_client.set(keys.conditional_moves(SHARD, BOARD), b"prepared")
    redis_client.delete(wrong)
    redis_client.xadd(wrong, {"of": "another type"}) if wrong != keys.log(SHARD) else (
        redis_client.sadd(wrong, "of another type")
    )
    before = everything(redis_client)
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        store.commit([new])
    assert everything(redis_client) == before
    assert store.inbox_size([SHARD]) == 1


@pytest.mark.parametrize(
    "wrong", [keys.moves, keys.turns, keys.locator, lambda *_: keys.due(SHARD)]
)
def test_what_a_refused_commit_has_appended_is_cut_off(
    redis_client: Redis, store: RedisStore, wrong: Callable[[int, int], str]
) -> None:
    first = msgspec.structs.replace(
        write(store, "move"),
        ended=0,
        conditional_before=b"",
        leaves=(b"e", b"f"),
        snapshot=PackedSnapshot(b"h" * 32, b"earlier move", b"earlier turn"),
    )
    assert isinstance(store.commit([first])[0], CommitDone)
    store.submit([msgspec.structs.replace(SUBMISSION, id=b"j" * 16)])
    (entry,) = store.read_inbox([SHARD], 1)
    second = msgspec.structs.replace(
        first, entry=entry.id, id=b"j" * 16, head=b"h" * 32, conditional_before=b"more"
    )
    redis_client.delete(wrong(SHARD, BOARD))
    redis_client.sadd(wrong(SHARD, BOARD), "of another type")
    before = everything(redis_client)
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        store.commit([second])
    assert everything(redis_client) == before


@pytest.mark.parametrize("kind", ["move", "refusal"])
def test_a_commit_without_memory_has_written_nothing_and_comes_through_later(
    redis_client: Redis, store: RedisStore, kind: str
) -> None:
    new = write(store, kind)
    redis_client.set(keys.conditional_moves(SHARD, BOARD), b"prepared")
    before = everything(redis_client)
    redis_client.config_set("maxmemory", 1)
    try:
        with pytest.raises(ResponseError, match="maxmemory"):
            store.commit([new])
    finally:
        redis_client.config_set("maxmemory", 0)
    assert everything(redis_client) == before
    assert store.inbox_size([SHARD]) == 1
    assert isinstance(store.commit([new])[0], CommitDone)
    assert store.inbox_size([SHARD]) == 0


def test_a_key_that_a_command_replaces_may_be_of_any_type(
    redis_client: Redis, store: RedisStore
) -> None:
    new = msgspec.structs.replace(write(store, "move"), conditional_before=b"", rewritten=True)
    for key in (keys.moves, keys.turns, keys.refusals, keys.conditional_moves):
        redis_client.sadd(key(SHARD, BOARD), "of another type")
    assert isinstance(store.commit([new])[0], CommitDone)
    assert redis_client.get(keys.moves(SHARD, BOARD)) == b"move"
    assert redis_client.get(keys.turns(SHARD, BOARD)) == b"turn"
    assert redis_client.get(keys.conditional_moves(SHARD, BOARD)) == b"more"
    assert not redis_client.exists(keys.refusals(SHARD, BOARD))


def test_a_sender_has_at_most_a_thousand_refused_commands_kept_in_a_shard(
    redis_client: Redis, store: RedisStore
) -> None:
    new, kept = write(store, "refusal"), keys.refused(SHARD, SUBMISSION.actor)
    redis_client.hset(kept, mapping={str(one): "" for one in range(1_000)})
    assert isinstance(store.commit([new])[0], CommitDone)
    assert redis_client.hlen(kept) == 1_000
    assert store.kept_commands(SHARD, [RefusedId(SUBMISSION.actor, new.id)]) == [None]


def test_what_is_refused_after_its_sender_was_deleted_is_kept_for_a_day_at_most(
    redis_client: Redis, store: RedisStore
) -> None:
    new, kept = write(store, "refusal"), keys.refused(SHARD, SUBMISSION.actor)
    wanted = [RefusedId(SUBMISSION.actor, new.id)]
    store.commit([new])
    assert store.kept_commands(SHARD, wanted) == [b"a command"]
    store.forget_refused(SUBMISSION.actor)
    assert store.kept_commands(SHARD, wanted) == [None]
    store.submit([msgspec.structs.replace(SUBMISSION, id=b"j" * 16)])
    (entry,) = store.read_inbox([SHARD], 1)
    store.commit([msgspec.structs.replace(new, entry=entry.id, id=b"j" * 16)])
    assert store.kept_commands(SHARD, [RefusedId(SUBMISSION.actor, b"j" * 16)]) == [b"a command"]
    assert 0 < redis_client.ttl(kept) <= 24 * 3600
