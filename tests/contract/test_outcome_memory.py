"""The memory of a match's outcomes on a server with the defaults of Redis and of Valkey."""

from collections.abc import Iterator

import pytest
from redis import Redis

from domain.match.commands import AnswerOffer, Command, MakeOffer, PlayMove, RevealText
from domain.match.decision import Decision, Rejection
from infra.store.outcomes import encode_stored, parse, tail
from tests.helpers.given import ALICE, BOB, Match, challenge

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


def test_a_match_with_refusals_keeps_its_outcomes_in_a_listpack(client: Redis) -> None:
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


def test_a_sentence_as_it_was_stored_would_make_a_table_of_it(client: Redis) -> None:
    """Shows that the server was set up as the test above needs it."""
    client.hset(OUTCOMES, b"i" * 16, encode_stored(b"digest..", 1, tail("busy", 1, "x" * 90)))
    assert client.object("encoding", OUTCOMES) == b"hashtable"
