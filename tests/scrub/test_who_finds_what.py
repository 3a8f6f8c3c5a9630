"""Changes by hand on a real server, each alone: who finds them, and in which words."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from infra.people.accounts.record import Account, decode, encode
from infra.projections.buckets import HISTORY, NOTICES, RATINGS
from infra.projections.generations import Generations
from infra.redis import keys
from infra.store import locators
from infra.store.log_gate import LogGate
from infra.store.outcomes import parse
from services.doctor import Level, gather, judge
from tests.helpers.doctor import damaged_matches
from tests.helpers.match_forger import MatchForger
from tests.helpers.scrubbing import SHARDS, ScrubbedServer

PLAIN, TIMED, DRAWN, CLAIMED = 1, 2, 3, 15
"""Boards: a match that goes on, one with clocks, one whose setup was drawn, and one with a claim."""

SHARD = keys.shard_of(PLAIN, SHARDS)
EVENTS = keys.events(SHARD, PLAIN)
STATE = keys.snapshot(SHARD, PLAIN)
OUTCOMES = keys.outcomes(SHARD, PLAIN)
LOG = keys.log(SHARD)
TEXTS = keys.statements(keys.shard_of(CLAIMED, SHARDS), CLAIMED)
Change = Callable[[ScrubbedServer, Any], object]


def event(server: ScrubbedServer, change: Callable[[bytes], bytes], place: int = 2) -> None:
    client: Any = server.client
    client.lset(EVENTS, place, change(client.lindex(EVENTS, place)))


def outcome_of(server: ScrubbedServer, *, refused: bool) -> tuple[bytes, bytes]:
    client: Any = server.client
    return next(
        (name, data)
        for name, data in client.hgetall(OUTCOMES).items()
        if bool(parse(data).code) == refused
    )


def refusal_without(server: ScrubbedServer, *parts: str) -> None:
    """Take a refusal out of the log, the outcomes, the locator."""
    client: Any = server.client
    command, data = outcome_of(server, refused=True)
    index = parse(data).index
    if "leaf" in parts:
        client.xdel(LOG, f"{index}-1")
    if "outcome" in parts:
        client.hdel(OUTCOMES, command)
    if "locator" in parts:
        name = keys.locator(SHARD, PLAIN)
        places = [one for one in locators.decode(client.get(name)) if one != index]
        client.set(name, locators.encode(places))


def other_sentence(server: ScrubbedServer) -> None:
    client: Any = server.client
    command, data = outcome_of(server, refused=True)
    client.hset(OUTCOMES, command, data[:-1] + bytes([data[-1] ^ 1]))


def other_text(data: bytes) -> bytes:
    return data.replace(b"a claim", b"no claim"[:7])


def cut_log(server: ScrubbedServer, keep: float) -> None:
    client: Any = server.client
    rows = client.xrange(LOG)
    for id_, _ in rows[int(len(rows) * keep) :]:
        client.xdel(LOG, id_)
    if not keep:
        client.delete(LOG)


def bucket_key(server: ScrubbedServer, spec: Any, part: str) -> str:
    """A key of a projection that has data and begins like this."""
    client: Any = server.client
    live = Generations(client, spec).live()
    assert live is not None
    for bucket in live[1].all:
        for name in sorted(client.scan_iter(f"{bucket.key(part)}*")):
            return name.decode()
    raise AssertionError(f"{spec.name} have no {part}")


def other_member(server: ScrubbedServer, name: str) -> None:
    """Change a value of a projection, of whatever type."""
    client: Any = server.client
    match client.type(name):
        case b"hash":
            field, value = next(iter(sorted(client.hgetall(name).items())))
            client.hset(name, field, value[:-1] + bytes([value[-1] ^ 1]))
        case b"zset":
            client.zrem(name, client.zrange(name, 0, 0)[0])
        case b"list":
            client.lpop(name)
        case other:
            raise AssertionError(other)


def account_of(server: ScrubbedServer, name: str) -> bytes:
    return server.accounts.id_of(name)


def other_password(server: ScrubbedServer) -> None:
    client: Any = server.client
    name = keys.account(account_of(server, "alice"))
    bob: Account = decode(client.get(keys.account(account_of(server, "bob"))))
    record = msgspec.structs.replace(decode(client.get(name)), password=bob.password)
    client.set(name, encode(record))


def swapped_names(server: ScrubbedServer) -> None:
    alice, bob = account_of(server, "alice"), account_of(server, "bob")
    server.client.set(keys.user("alice"), bob)
    server.client.set(keys.user("bob"), alice)


def with_shards(server: ScrubbedServer, count: int, *, fitting: bool) -> None:
    fields = {"shards": str(count)} | ({"tags": keys.shard_tags(count)} if fitting else {})
    server.client.hset(keys.LAYOUT, mapping=fields)


CHANGES: dict[str, tuple[Change, str, str]] = {
    "a byte of an event": (
        lambda s, _: event(s, lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]),
        "verify",
        r"match 1: event [34]: ",
    ),
    "the last event gone": (lambda _, c: c.rpop(EVENTS), "verify", r"match 1: event 4: it is missing"),
    "the sentence of a refusal": (lambda s, _: other_sentence(s), "verify", r"match 1: .*refus"),
    "the leaf of a refusal out of the log": (
        lambda s, _: refusal_without(s, "leaf"),
        "scrub",
        r"log of shard 1: leaf \d+ is missing in the data, and is published",
    ),
    "the same with its outcome": (
        lambda s, _: refusal_without(s, "leaf", "outcome"),
        "verify",
        r"match 1: event 2: leaf 4 of shard 1's log is a refusal after it, and no outcome is stored for its command",
    ),
    "the same with its place in the locator": (
        lambda s, _: refusal_without(s, "leaf", "outcome", "locator"),
        "scrub",
        r"match 1: leaf \d+ of shard 1 is of it, and the match does not know of it",
    ),
    "an entry of the log gone": (
        lambda _, c: c.xdel(LOG, c.xrange(LOG)[5][0]),
        "scrub",
        r"log of shard 1: leaf 5 is missing in the data, and is published",
    ),
    "all of the log gone": (lambda s, _: cut_log(s, 0), "gate", r"shard 1 is closed: \d+ leaves are published"),
    "the last move unmade everywhere": (
        lambda s, _: MatchForger(s, PLAIN).unmake(),
        "scrub",
        r"match 1: leaf \d+ of shard 1 is of it, and the match does not know of it: what the leaf says",
    ),
    "the last move an hour later, made to fit": (
        lambda s, _: MatchForger(s, PLAIN).delay(3_600_000),
        "scrub",
        r"log of shard 1: leaf \d+ is another one than the published leaf, which is signed",
    ),
    "the last move made another, made to fit": (
        lambda s, _: MatchForger(s, PLAIN).forge("m1-k3"),
        "scrub",
        r"log of shard 1: leaf \d+ is another one than the published leaf, which is signed",
    ),
    "a whole match and its entries gone": (
        lambda s, _: MatchForger(s, PLAIN).erase(),
        "scrub",
        r"match 1: leaf \d+ of shard 1 is of it, and there is no such match",
    ),
    "a rating": (lambda s, _: other_member(s, bucket_key(s, RATINGS, "players:")), "scrub", r"ratings: they differ"),
    "a row of a list": (lambda s, _: other_member(s, bucket_key(s, HISTORY, "account:")), "scrub", r"history: they differ"),
    "an archived place of a list": (
        lambda s, c: c.hset(key := bucket_key(s, HISTORY, "archived:account:"), "0", c.hget(key, "1")),
        "scrub",
        r"history: they differ from a rebuild of .*, first at account:",
    ),
    "the time of the last archived place of a list": (
        lambda s, c: c.hincrby(bucket_key(s, HISTORY, "archived:pair:"), "at", 1),
        "scrub",
        r"history: they differ from a rebuild of .*, first at pair:",
    ),
    "a notice": (lambda s, _: other_member(s, bucket_key(s, NOTICES, "to:")), "scrub", r"notifications: they differ"),
    "a statement": (
        lambda _, c: c.hset(TEXTS, c.hkeys(TEXTS)[0], other_text(c.hvals(TEXTS)[0])),
        "scrub",
        r"statement of event \d of match 15: its text or its author is not the one whose digest",
    ),
    "a statement gone": (
        lambda _, c: c.delete(TEXTS),
        "scrub",
        r"statement of event \d of match 15: it is missing, and its author is still there",
    ),
    "a key that nobody writes": (
        lambda _, c: c.set(f"{STATE}:other", "x"),
        "scrub",
        r"key \{s01\.\w+\}:m:1:other: this program writes no such key there",
    ),
    "the mark of the seeds that were shown": (
        lambda s, _: next(s.folder.glob("seeds/*.used")).write_bytes(b"x"),
        "scrub",
        r"seeds of shard 1: the mark of the seeds that were shown is damaged",
    ),
    "the due time of one match": (
        lambda _, c: c.zrem(keys.due(0), TIMED),
        "scrub",
        r"due time of match 2: the list had it due at no time, and it is due at \d+",
    ),
    "a due time of a match that is not there": (
        lambda _, c: c.zadd(keys.due(0), {4444: 5}),
        "scrub",
        r"due time of match 4444: the list of due times has it, and there is no such match",
    ),
    "the end of a match": (
        lambda _, c: c.zrem(keys.ended(1), c.zrange(keys.ended(1), 0, 0)[0]),
        "scrub",
        r"end of match \d+: the list of matches that are over has its end at no time",
    ),
    "a password hash": (
        lambda s, _: other_password(s),
        "scrub",
        r"account [0-9a-f]{16} of alice: its record does not fit its MAC",
    ),
    "an account unreadable": (
        lambda s, c: c.set(keys.account(account_of(s, "alice")), b"\xc1"),
        "scrub",
        r"account [0-9a-f]{16}: its record can't be read",
    ),
    "an account gone": (
        lambda s, c: c.delete(keys.account(account_of(s, "alice"))),
        "scrub",
        r"account [0-9a-f]{16}: .*(its record is gone|neither there nor deleted)",
    ),
    "two userids swapped": (lambda s, _: swapped_names(s), "scrub", r"userid alice: it points to the account of bob"),
    "the board counter set back": (
        lambda _, c: c.set(keys.BOARDS, 2),
        "scrub",
        r"board \d+: .*the counter of boards is at 2: it was set back",
    ),
    "the counter of used seeds set back": (
        lambda _, c: c.hset(keys.seed_chain(1), "k", 0),
        "scrub",
        r"seeds of shard 1: the counter of used seeds of shard 1 stands at 0, and seed 1 was used: it was set back",
    ),
    "the number of shards": (lambda s, _: with_shards(s, 4, fitting=False), "doctor", r"data: .*other names of its shards"),
    "the number of shards, made to fit": (
        lambda s, _: with_shards(s, 4, fitting=True), "scrub", r"leaf \d+ of shard 1: it is of match \d+, which belongs to another shard",
    ),
}  # fmt: skip
"""The table: the change, one who finds it, and the words; `tests/services/test_verify_stored.py` has more of `verify`."""


def lines_of(server: ScrubbedServer, who: str) -> list[str]:
    """What is said about the first bad thing: by the check of each match, the doctor, the gate or the scrubber."""
    if who == "verify":
        return list(verify_all(server))
    if who == "gate":
        LogGate(server.client, server.queue).look(range(SHARDS))
    elif who == "scrub":
        return [f"{one.about}: {one.sentence}" for one in server.scrub()]
    findings = judge(gather(server.settings))
    return [f"{one.about}: {one.what}" for one in findings if one.level >= Level.WARN]


def verify_all(server: ScrubbedServer) -> list[str]:
    boards = range(1, int(server.client.get(keys.BOARDS) or 0) + 1)  # type: ignore[arg-type]
    return [f"match {board}: {broken}" for board, broken in damaged_matches(server.store, boards)]


@pytest.mark.long
def test_nothing_is_found_on_a_server_that_is_well(server: ScrubbedServer) -> None:
    assert lines_of(server, "verify") == []
    assert lines_of(server, "scrub") == []


@pytest.mark.parametrize("what", CHANGES)
def test_who_finds_what(server: ScrubbedServer, what: str) -> None:
    change, who, words = CHANGES[what]
    change(server, server.client)
    said = lines_of(server, who)
    assert any(re.search(words, line) for line in said), said
    if who == "verify":  # the scrubber does the same check
        scrubbed = lines_of(server, "scrub")
        assert any(re.search(words, line) for line in scrubbed), scrubbed
    if who in ("verify", "scrub"):
        doctor = lines_of(server, "doctor")
        assert any(line.startswith("scrub: ") for line in doctor), doctor
