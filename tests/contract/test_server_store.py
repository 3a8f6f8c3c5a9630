"""What only the store on a server promises: layout, keys and lanes; what is on disk; and what a commit that the server refuses leaves."""

from typing import Any

import pytest
from msgspec.structs import replace
from redis import Redis
from redis.client import Pipeline
from redis.crc import key_slot
from redis.exceptions import ResponseError

from domain.match.commands import AnswerOffer, Command, MakeOffer, PlayMove, RevealText
from domain.match.decision import Decision, Rejection
from domain.match.history import NO_HASH, PackedSnapshot
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store import layout as layout_module
from infra.store import redis_store
from infra.store.layout import Layout, Numbering, initial_layout
from infra.store.outcomes import encode_stored, parse, tail
from infra.store.port import CommitDone, NotDurable, Submission, Write
from infra.store.redis_store import RedisStore
from infra.store.refused_commands import RefusedId
from infra.store.watermarks import FLOOR_MS, FLOOR_STEP_MS
from tests.helpers.given import ALICE, BOB, Match, challenge

BOARD = SHARD = 7
SUBMISSION = Submission(BOARD, b"i" * 16, b"digest..", b"payload", b"account.", 0, "reply:1")
OF_SHARD = (keys.due, keys.attempts, keys.log, keys.ended, keys.archived)
OF_MATCH = (
    *(keys.snapshot, keys.moves, keys.turns, keys.events, keys.locator, keys.outcomes),
    keys.conditional_moves,
)


def make(client: Redis, **more: Any) -> RedisStore:
    store = RedisStore(client, Mode.FSYNC, **more)
    store.create(Layout(shards=8, lanes=1))
    return store


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


def test_the_lanes_are_read_again_and_the_shards_are_not(redis_client, monkeypatch):
    monkeypatch.setattr(layout_module, "LAYOUT_SECONDS", 0.0)
    store = make(redis_client)
    assert (store.shards, store.shard_of(7)) == (8, 7)
    redis_client.config_resetstat()
    assert (store.shards, store.shard_of(7)) == (8, 7)
    assert "cmdstat_hgetall" not in redis_client.info("commandstats")
    store.layout()
    assert redis_client.info("commandstats")["cmdstat_hgetall"]["calls"] == 1


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


def test_data_that_were_made_on_one_server_are_refused_on_a_cluster(cluster_client):
    store = RedisStore(cluster_client, Mode.FSYNC)
    layout = initial_layout(cluster_client, shards=4, lanes=8)
    assert store.create(layout) == Layout(4, 4, Numbering.SHARD)
    cluster_client.hset(keys.LAYOUT, "numbering", Numbering.SERVER)
    with pytest.raises(LookupError, match="made on one server, where one counter numbers all"):
        RedisStore(cluster_client, Mode.FSYNC).layout()


def test_each_shard_is_in_one_lane_and_has_a_slot_of_its_own_with_all_its_keys():
    for shards, count in [(1, 1), (1, 8), (4, 3), (8, 8), (12, 8), (100, 3)]:
        lanes = keys.all_lanes(count)
        drained = {shard: lane for lane in lanes for shard in lane.shards(shards)}
        assert sum(len(lane.shards(shards)) for lane in lanes) == len(drained) == shards
        assert {n: keys.lane_of(n, count, shards) for n in range(shards)} == drained
    slots = [keys.slot_of(shard) for shard in range(keys.MOST_SHARDS)]
    assert [key_slot(keys.log(shard).encode()) for shard in range(keys.MOST_SHARDS)] == slots
    assert len(set(slots)) == keys.MOST_SHARDS
    names = [key(7) for key in (*OF_SHARD, keys.inbox, keys.dead_letters, keys.seed_chain)]
    names += [key(7, 15) for key in (*OF_MATCH, keys.refusals)]
    assert all(name.startswith("{s07.a1y}:") for name in names)
    assert len(set(names)) == len(names)


def test_the_number_given_to_a_challenge_is_remembered_whatever_the_time(redis_client):
    make(redis_client).allocate(SUBMISSION.id)
    assert redis_client.ttl(keys.allocated(SUBMISSION.id)) == -1


def test_watermarks_of_quiet_logs_write_nothing(redis_client):
    first = now = 1_795_100_400_000
    store = make(redis_client, clock=lambda: now)
    assert store.watermark().at == first
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
    store.submit([replace(SUBMISSION, payload=b"%d" % number) for number in range(4)])
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


@pytest.fixture
def waiting(redis_client: Redis) -> RedisStore:
    made = make(redis_client)
    made.submit([SUBMISSION])
    redis_client.set(keys.conditional_moves(SHARD, BOARD), b"prepared")
    return made


def write(waiting: RedisStore, kind: str) -> Write:
    """What is committed for the command that waits: a move that touches every key, or a refusal."""
    (entry,) = waiting.read_inbox([SHARD], 1)
    refusal = Write(
        SHARD, entry.id, BOARD, SUBMISSION.id, NO_HASH, b"digest..", tail("no", 1, ""), (b"e",), None,
        refusal_field="x", actor=SUBMISSION.actor, kept=b"a command",
    )  # fmt: skip
    if kind == "refusal":
        return refusal
    return replace(
        refusal, tail=tail("", 1, ""), snapshot=PackedSnapshot(b"h" * 32, b"move", b"turn"), refusal_field="",
        kept=b"", due=1234, ended=1234, conditional_before=b"prepared", conditional_after=b"more",
    )  # fmt: skip


def everything(client: Redis) -> dict[bytes, object]:
    """What is stored, but for the inbox, by the server's own form of it."""
    return {name: client.dump(name) for name in client.scan_iter() if not name.endswith(b":in")}


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *(("move", key(SHARD)) for key in OF_SHARD),
        *(("move", key(SHARD, BOARD)) for key in OF_MATCH),
        # a refusal ends no match, and changes no due time
        *(("refusal", key(SHARD)) for key in (keys.attempts, keys.log, keys.archived)),
        *(
            ("refusal", key(SHARD, BOARD))
            for key in (keys.snapshot, keys.outcomes, keys.locator, keys.refusals)
        ),
        ("refusal", keys.refused(SHARD, SUBMISSION.actor)),
    ],
)
def test_a_commit_that_meets_a_key_of_another_type_has_written_nothing(
    redis_client, waiting, kind, wrong
):
    redis_client.delete(wrong)
    if wrong == keys.log(SHARD):
        redis_client.sadd(wrong, "of another type")
    else:
        redis_client.xadd(wrong, {"of": "another type"})
    before = everything(redis_client)
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        waiting.commit([write(waiting, kind)])
    assert everything(redis_client) == before
    assert waiting.inbox_size([SHARD]) == 1


@pytest.mark.parametrize(
    "wrong", [keys.moves, keys.turns, keys.locator, lambda *_: keys.due(SHARD)]
)
def test_what_a_refused_commit_has_appended_is_cut_off(redis_client, waiting, wrong):
    earlier = PackedSnapshot(b"h" * 32, b"earlier move", b"earlier turn")
    first = replace(write(waiting, "move"), ended=0, leaves=(b"e", b"f"), snapshot=earlier)
    assert isinstance(waiting.commit([first])[0], CommitDone)
    waiting.submit([replace(SUBMISSION, id=b"j" * 16)])
    (entry,) = waiting.read_inbox([SHARD], 1)
    second = replace(
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


def test_refused_commands_are_kept_up_to_a_thousand_and_for_a_day_if_their_sender_was_deleted(
    redis_client, waiting
):
    kept, actor = keys.refused(SHARD, SUBMISSION.actor), SUBMISSION.actor

    def refuse(id_: bytes) -> list[bytes | None]:
        """Refuse the command that waits; return what is kept of it."""
        done = waiting.commit([replace(write(waiting, "refusal"), id=id_)])
        assert isinstance(done[0], CommitDone)
        return waiting.kept_commands(SHARD, [RefusedId(actor, id_)])

    assert refuse(SUBMISSION.id) == [b"a command"]
    waiting.forget_refused(actor)
    assert waiting.kept_commands(SHARD, [RefusedId(actor, SUBMISSION.id)]) == [None]
    waiting.submit([replace(SUBMISSION, id=b"j" * 16), replace(SUBMISSION, id=b"k" * 16)])
    assert refuse(b"j" * 16) == [b"a command"]
    assert 0 < redis_client.ttl(kept) <= 24 * 3600
    redis_client.hset(kept, mapping={str(one): "" for one in range(998)})
    assert refuse(b"k" * 16) == [None]
    assert redis_client.hlen(kept) == 1_000


OUTCOMES = "{s01}:m:1:out"
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
    stored = encode_stored(number.to_bytes(8, "big"), 10_000_000 + number, tail(code, seq, text))
    assert parse(stored).sentence == str(text)
    client.hset(OUTCOMES, number.to_bytes(16, "big"), stored)


@pytest.mark.parametrize("entries", [128, 512], ids=["Redis", "Valkey"])
def test_a_match_with_refusals_keeps_its_outcomes_in_a_listpack(redis_client, entries):
    """With the defaults for hashes; those of the embedded server are larger."""
    limits = {"hash-max-listpack-entries": entries, "hash-max-listpack-value": 64}
    before = redis_client.config_get(*limits)
    match = Match(challenge("pow2"))
    try:
        for name, value in limits.items():
            redis_client.config_set(name, value)
        for ply in range(40):
            actor, move = PLAYED[ply % 4]
            remember(redis_client, match.decided(actor, PlayMove(text=move)), ply + 2)
        accepted = redis_client.memory_usage(OUTCOMES, samples=0)
        for actor, command in REFUSED:
            decided = match.decided(actor, command)
            assert isinstance(decided, Rejection)
            remember(redis_client, decided, 41)
    finally:
        for name, value in before.items():
            redis_client.config_set(name, value)
    assert redis_client.hlen(OUTCOMES) == 40 + len(REFUSED)
    assert redis_client.object("encoding", OUTCOMES) == b"listpack"
    assert redis_client.memory_usage(OUTCOMES, samples=0) < accepted + 80 * len(REFUSED) + 256
