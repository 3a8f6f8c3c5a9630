"""What is not committed: what the server refuses, and what a closed shard or one without its published leaves gets."""

from collections.abc import Iterator

import msgspec
import pytest
from redis import Redis
from redis.exceptions import ResponseError

from domain.match.commands import AnswerOffer, Command, MakeOffer, PlayMove, RevealText
from domain.match.decision import Decision, Rejection
from domain.match.history import NO_HASH, PackedSnapshot
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.closed_shards import ClosedShards, forked
from infra.store.layout import Layout
from infra.store.outcomes import encode_stored, parse, tail
from infra.store.port import (
    CommitClosed,
    CommitDone,
    CommitResult,
    LogCutOff,
    ShardClosedError,
    Store,
    Submission,
    Write,
)
from infra.store.redis_store import RedisStore
from infra.store.refused_commands import RefusedId
from tests.fakes.memory_store import MemoryStore
from tests.helpers.given import ALICE, BOB, Match, challenge

BOARD = SHARD = 7


WAITING = Submission(BOARD, b"i" * 16, b"digest..", b"payload", b"account.", 0, "reply:1")


@pytest.fixture
def waiting(redis_client: Redis) -> RedisStore:
    made = RedisStore(redis_client, Mode.FSYNC)
    made.create(Layout(shards=8, lanes=1))
    made.submit([WAITING])
    return made


def write(waiting: RedisStore, kind: str) -> Write:
    """What is committed for the command that waits: a move that touches every key, or a refusal."""
    (entry,) = waiting.read_inbox([SHARD], 1)
    refusal = Write(
        SHARD, entry.id, BOARD, WAITING.id, NO_HASH, b"digest..", tail("no", 1, ""), (b"e",), None,
        refusal_field="x", actor=WAITING.actor, kept=b"a command",
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
        ("refusal", keys.refused(SHARD, WAITING.actor)),
    ],
)
def test_a_commit_that_meets_a_key_of_another_type_has_written_nothing(
    redis_client, waiting, kind, wrong
):
    new = write(waiting, kind)
    redis_client.set(keys.conditional_moves(SHARD, BOARD), b"prepared")
    redis_client.delete(wrong)
    redis_client.xadd(wrong, {"of": "another type"}) if wrong != keys.log(SHARD) else (
        redis_client.sadd(wrong, "of another type")
    )
    before = everything(redis_client)
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        waiting.commit([new])
    assert everything(redis_client) == before
    assert waiting.inbox_size([SHARD]) == 1


@pytest.mark.parametrize(
    "wrong", [keys.moves, keys.turns, keys.locator, lambda *_: keys.due(SHARD)]
)
def test_what_a_refused_commit_has_appended_is_cut_off(redis_client, waiting, wrong):
    first = msgspec.structs.replace(
        write(waiting, "move"),
        ended=0,
        conditional_before=b"",
        leaves=(b"e", b"f"),
        snapshot=PackedSnapshot(b"h" * 32, b"earlier move", b"earlier turn"),
    )
    assert isinstance(waiting.commit([first])[0], CommitDone)
    waiting.submit([msgspec.structs.replace(WAITING, id=b"j" * 16)])
    (entry,) = waiting.read_inbox([SHARD], 1)
    second = msgspec.structs.replace(
        first, entry=entry.id, id=b"j" * 16, head=b"h" * 32, conditional_before=b"more"
    )
    redis_client.delete(wrong(SHARD, BOARD))
    redis_client.sadd(wrong(SHARD, BOARD), "of another type")
    before = everything(redis_client)
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        waiting.commit([second])
    assert everything(redis_client) == before


@pytest.mark.parametrize("kind", ["move", "refusal"])
def test_a_commit_without_memory_has_written_nothing_and_comes_through_later(
    redis_client, waiting, kind
):
    new = write(waiting, kind)
    redis_client.set(keys.conditional_moves(SHARD, BOARD), b"prepared")
    before = everything(redis_client)
    redis_client.config_set("maxmemory", 1)
    try:
        with pytest.raises(ResponseError, match="maxmemory"):
            waiting.commit([new])
    finally:
        redis_client.config_set("maxmemory", 0)
    assert everything(redis_client) == before
    assert waiting.inbox_size([SHARD]) == 1
    assert isinstance(waiting.commit([new])[0], CommitDone)
    assert waiting.inbox_size([SHARD]) == 0


def test_a_sender_has_at_most_a_thousand_refused_commands_kept_in_a_shard(redis_client, waiting):
    new, kept = write(waiting, "refusal"), keys.refused(SHARD, WAITING.actor)
    redis_client.hset(kept, mapping={str(one): "" for one in range(1_000)})
    assert isinstance(waiting.commit([new])[0], CommitDone)
    assert redis_client.hlen(kept) == 1_000
    assert waiting.kept_commands(SHARD, [RefusedId(WAITING.actor, new.id)]) == [None]


def test_what_is_refused_after_its_sender_was_deleted_is_kept_for_a_day_at_most(
    redis_client, waiting
):
    new, kept = write(waiting, "refusal"), keys.refused(SHARD, WAITING.actor)
    wanted = [RefusedId(WAITING.actor, new.id)]
    waiting.commit([new])
    assert waiting.kept_commands(SHARD, wanted) == [b"a command"]
    waiting.forget_refused(WAITING.actor)
    assert waiting.kept_commands(SHARD, wanted) == [None]
    waiting.submit([msgspec.structs.replace(WAITING, id=b"j" * 16)])
    (entry,) = waiting.read_inbox([SHARD], 1)
    waiting.commit([msgspec.structs.replace(new, entry=entry.id, id=b"j" * 16)])
    assert waiting.kept_commands(SHARD, [RefusedId(WAITING.actor, b"j" * 16)]) == [b"a command"]
    assert 0 < redis_client.ttl(kept) <= 24 * 3600


def submission_to(board: int) -> Submission:
    return Submission(board, b"%016d" % board, b"digest..", b"payload", ALICE, 0, "reply:1")


def write_first(store: Store, board: int) -> Write:
    """Return the write of the first event of a match, whose command waits alone in its shard."""
    (entry,) = store.read_inbox([board % 4], 1)
    place = (board % 4, entry.id, board, b"%016d" % board, NO_HASH, b"digest..", tail("", 1))
    return Write(*place, (b"event %d" % board,), PackedSnapshot(b"h" * 32))


def commit_first(store: Store, *boards: int) -> list[CommitResult]:
    """Commit a first event of each match."""
    store.submit([submission_to(board) for board in boards])
    return store.commit([write_first(store, board) for board in boards])


def test_no_commit_is_written_below_the_published_size(store):
    store.published = lambda shard: 1 if shard == 0 else 0
    closed, done = commit_first(store, 4, 5)
    assert closed == LogCutOff(0)
    assert isinstance(done, CommitDone)
    assert store.leaves(0, 0, 10) == []
    assert store.events(4) == []
    assert store.outcomes(4) == {}
    assert store.inbox_size([0]) == 1, "the command waits"
    store.published = lambda _: 0
    (done,) = commit_first(store, 4)
    assert isinstance(done, CommitDone)


def close(store: Store, shard: int) -> None:
    """Close a shard of the store."""
    if isinstance(store, MemoryStore):
        store.closed.add(shard)
    else:
        ClosedShards(store._client).close(shard, forked(shard, 0))  # type: ignore[attr-defined]


def test_a_closed_shard_commits_nothing(store):
    commit_first(store, 4, 5)
    store.submit([submission_to(4 + 4), submission_to(5 + 4)])
    close(store, 0)
    closed, done = store.commit([write_first(store, 4 + 4), write_first(store, 5 + 4)])
    assert closed == CommitClosed()
    assert isinstance(done, CommitDone)
    assert len(store.leaves(0, 0, 10)) == 1
    assert store.inbox_size([0]) == 1, "the command waits"


def test_no_chain_of_seeds_is_anchored_below_the_published_size(store):
    store.published = lambda _: 1
    with pytest.raises(ShardClosedError):
        store.anchor(0, 1, bytes(32), b"leaf")
    assert store.leaves(0, 0, 10) == []
    assert store.seed_chain(0) is None
    store.published = lambda _: 0
    assert store.anchor(0, 1, bytes(32), b"leaf")


FIRST_INDEX = 10_000_000


OUTCOMES = "{s01}:m:1:out"


@pytest.fixture(params=[(128, 64), (512, 64)], ids=["Redis", "Valkey"])
def client(request: pytest.FixtureRequest, redis_client: Redis) -> Iterator[Redis]:
    """A server with the defaults for hashes; those of the embedded one are larger."""
    names = ("hash-max-listpack-entries", "hash-max-listpack-value")
    before = redis_client.config_get(*names)
    for name, value in zip(names, request.param, strict=True):
        redis_client.config_set(name, value)
    yield redis_client
    for name, value in before.items():
        redis_client.config_set(name, value)


PLAYED = [(ALICE, "m13-m9"), (BOB, "a13-a9"), (ALICE, "m9-m13"), (BOB, "a9-a13")]
"""Moves there and back."""


REFUSED: list[tuple[bytes, Command]] = [
    *((ALICE, PlayMove(text=move)) for move in ("m13-a13", "a1-g1", "m13-m5", "m13-b4", "m13-m1")),
    (BOB, PlayMove(text="a1-m12:b4,c3,d2")),
    (ALICE, PlayMove(text="m13-j7", ply=900)),
    (BOB, PlayMove(text="a1-a5", ply=900)),
    (ALICE, AnswerOffer(accept=True)),
    (BOB, MakeOffer(kind="pause")),
    (BOB, RevealText(text=b"x")),
]


def remember(client: Redis, decided: Decision | Rejection, seq: int) -> None:
    """Store an outcome as the commit does."""
    number = client.hlen(OUTCOMES)
    code, text = ("", "") if isinstance(decided, Decision) else (decided.code, decided.text)
    stored = encode_stored(number.to_bytes(8, "big"), FIRST_INDEX + number, tail(code, seq, text))
    assert parse(stored).sentence == str(text)
    client.hset(OUTCOMES, number.to_bytes(16, "big"), stored)


def test_a_match_with_refusals_keeps_its_outcomes_in_a_listpack(client):
    match = Match(challenge("pow2"))
    for ply in range(40):
        actor, move = PLAYED[ply % 4]
        remember(client, match.decided(actor, PlayMove(text=move)), ply + 2)
    accepted = client.memory_usage(OUTCOMES, samples=0)
    for actor, command in REFUSED:
        decided = match.decided(actor, command)
        assert isinstance(decided, Rejection)
        remember(client, decided, 41)
    assert client.hlen(OUTCOMES) == 40 + len(REFUSED)
    assert client.object("encoding", OUTCOMES) == b"listpack"
    assert client.memory_usage(OUTCOMES, samples=0) < accepted + 80 * len(REFUSED) + 256
