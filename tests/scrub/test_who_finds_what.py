"""Changes by hand on a real server: the scrubber finds each, in these words, and the doctor tells of it."""

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


def other_text(data: bytes) -> bytes:
    return data.replace(b"a claim", b"no claim"[:7])


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


Finds = tuple[Change, str]
ROUNDS: tuple[dict[str, Finds], ...] = (
    {
        "a byte of an event": (
            lambda s, _: event(s, lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]), r"match 1: event [34]: ",
        ),
        "a rating": (lambda s, _: other_member(s, bucket_key(s, RATINGS, "players:")), r"ratings: they differ"),
        "a notice": (lambda s, _: other_member(s, bucket_key(s, NOTICES, "to:")), r"notifications: they differ"),
        "a row of a list": (lambda s, _: other_member(s, bucket_key(s, HISTORY, "account:")), r"history: they differ"),
        "a statement": (
            lambda _, c: c.hset(TEXTS, c.hkeys(TEXTS)[0], other_text(c.hvals(TEXTS)[0])),
            r"statement of event \d of match 15: its text or its author is not the one whose digest",
        ),
        "a key that nobody writes": (
            lambda _, c: c.set(f"{STATE}:other", "x"), r"key \{s01\.\w+\}:m:1:other: this program writes no such key there",
        ),
        "a password hash": (
            lambda s, _: other_password(s), r"account [0-9a-f]{16} of alice: its record does not fit its MAC",
        ),
    },
    {
        "an archived place of a list": (
            lambda s, c: c.hset(key := bucket_key(s, HISTORY, "archived:account:"), "0", c.hget(key, "1")),
            r"history: they differ from a rebuild of .*, first at account:",
        ),
        "a statement gone": (
            lambda _, c: c.delete(TEXTS), r"statement of event \d of match 15: it is missing, and its author is still there",
        ),
        "the mark of the seeds that were shown": (
            lambda s, _: next(s.folder.glob("seeds/*.used")).write_bytes(b"x"),
            r"seeds of shard 1: the mark of the seeds that were shown is damaged",
        ),
        "an account unreadable": (
            lambda s, c: c.set(keys.account(account_of(s, "alice")), b"\xc1"), r"account [0-9a-f]{16}: its record can't be read",
        ),
    },
    {
        "a refusal out of the log, the outcomes and the locator": (
            lambda s, _: refusal_without(s, "leaf", "outcome", "locator"),
            r"match 1: leaf \d+ of shard 1 is of it, and the match does not know of it",
        ),
        "its leaf": (
            lambda _s, _c: None, r"log of shard 1: leaf \d+ is missing in the data, and is published",
        ),
        "the due time of one match": (
            lambda _, c: c.zrem(keys.due(0), TIMED),
            r"due time of match 2: the list had it due at no time, and it is due at \d+",
        ),
        "a due time of a match that is not there": (
            lambda _, c: c.zadd(keys.due(0), {4444: 5}),
            r"due time of match 4444: the list of due times has it, and there is no such match",
        ),
        "the end of a match": (
            lambda _, c: c.zrem(keys.ended(1), c.zrange(keys.ended(1), 0, 0)[0]),
            r"end of match \d+: the list of matches that are over has its end at no time",
        ),
        "an account gone": (
            lambda s, c: c.delete(keys.account(account_of(s, "alice"))),
            r"account [0-9a-f]{16}: .*(its record is gone|neither there nor deleted)",
        ),
    },
    {
        "the time of the last archived place of a list": (
            lambda s, c: c.hincrby(bucket_key(s, HISTORY, "archived:pair:"), "at", 1),
            r"history: they differ from a rebuild of .*, first at pair:",
        ),
        "two userids swapped": (lambda s, _: swapped_names(s), r"userid alice: it points to the account of bob"),
        "the board counter set back": (
            lambda _, c: c.set(keys.BOARDS, 2), r"board \d+: .*the counter of boards is at 2: it was set back",
        ),
        "the counter of used seeds set back": (
            lambda _, c: c.hset(keys.seed_chain(1), "k", 0),
            r"seeds of shard 1: the counter of used seeds of shard 1 stands at 0, and seed 1 was used: it was set back",
        ),
    },
    {
        "the last move an hour later, made to fit": (
            lambda s, _: MatchForger(s, PLAIN).delay(3_600_000),
            r"log of shard 1: leaf \d+ is another one than the published leaf, which is signed",
        ),
    },
    {
        "the last move unmade everywhere": (
            lambda s, _: MatchForger(s, PLAIN).unmake(),
            r"match 1: leaf \d+ of shard 1 is of it, and the match does not know of it: what the leaf says",
        ),
        "a whole match and its entries gone": (
            lambda s, _: MatchForger(s, TIMED).erase(), r"match 2: leaf \d+ of shard 0 is of it, and there is no such match",
        ),
    },
    {
        "the number of shards, made to fit": (
            lambda s, _: with_shards(s, 4, fitting=True), r"leaf \d+ of shard 1: it is of match \d+, which belongs to another shard",
        ),
    },
)  # fmt: skip
"""Changes that don't hide each other; `trials/tamper` draws many more, and `tests/evidence` has those of a match."""


def told(server: ScrubbedServer) -> list[str]:
    """What the doctor says."""
    found = judge(gather(server.settings))
    return [f"{one.about}: {one.what}" for one in found if one.level >= Level.WARN]


@pytest.mark.parametrize("changes", ROUNDS, ids=[next(iter(one)) for one in ROUNDS])
def test_the_scrubber_finds_each_change_and_the_doctor_says_so(server, changes) -> None:
    for change, _ in changes.values():
        change(server, server.client)
    said = [f"{one.about}: {one.sentence}" for one in server.scrub()]
    missed = [
        name for name, (_, words) in changes.items() if not any(re.search(words, s) for s in said)
    ]
    assert missed == [], said
    assert any(line.startswith("scrub: ") for line in told(server))


def test_gate_and_doctor_find_what_is_gone_before_anything_is_read(server: ScrubbedServer) -> None:
    server.client.delete(LOG)
    LogGate(server.client, server.queue).look(range(SHARDS))
    assert any(re.search(r"shard 1 is closed: \d+ leaves are published", s) for s in told(server))
    with_shards(server, 4, fitting=False)
    assert any(re.search(r"data: .*other names of its shards", line) for line in told(server))
