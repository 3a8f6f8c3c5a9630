"""Access tokens: shown once, found by their hash, refused from the moment they are revoked."""

import asyncio
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from argon2 import PasswordHasher
from msgspec.structs import asdict
from redis import Redis
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from infra.people.tokens import (
    DAYS,
    MOST_TOKENS,
    USUAL_DAYS,
    AsyncTokens,
    FreshToken,
    Scope,
    Token,
    Tokens,
    digest_of,
)
from infra.people.tokens.tokens import make_token
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.redis.server import ServerTime
from tests.fakes.tokens import check, check_one
from tests.helpers.examples import refused

ALICE, BOB = bytes([0xA1]) * 8, bytes([0xB0]) * 8
DAY = 24 * 3_600_000
MIDNIGHT = 19_700 * DAY
FOR_GOOD = -1
"""What Redis calls the life of a key that does not expire."""

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Clock:
    """A clock that the test sets, in ms."""

    def __init__(self) -> None:
        self.now = MIDNIGHT + 1234

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(redis_client: Redis, clock: Clock) -> Tokens:
    """The tokens of a server on which Alice and Bob have accounts."""
    for account in (ALICE, BOB):
        redis_client.set(keys.account(account), "a record")
    return Tokens(redis_client, clock)


def shown(issued: FreshToken) -> Token:
    """What is left of a token when its text is gone."""
    fields = asdict(issued)
    del fields["text"]
    return Token(**fields)


def everything(client: Redis) -> bytes:
    """All that is stored, names and values."""
    found = []
    for name in sorted(client.scan_iter()):
        kind = client.type(name)
        found += [name, *(client.hgetall(name).items() if kind == b"hash" else [client.get(name)])]
    return repr(found).encode()


# made and checked


def test_a_token_that_was_issued_is_good(tokens, clock):
    issued = tokens.issue(ALICE, "  my phone ", [Scope.PLAY, Scope.READ, Scope.PLAY])
    assert check_one(tokens, issued.text) == shown(issued)
    assert shown(issued) == Token(
        account=ALICE,
        id=issued.id,
        label="my phone",
        scopes=(Scope.READ, Scope.PLAY),
        created=clock.now,
        expires=clock.now + USUAL_DAYS * DAY,
    )
    assert re.fullmatch("[0-9a-f]{16}", issued.id)


def test_the_text_of_a_token_is_stored_nowhere_and_shown_in_no_log(tokens, redis_client):
    issued = tokens.issue(ALICE, "my phone", list(Scope))
    check_one(tokens, issued.text)
    secret = issued.text[3:-6].encode()
    assert secret not in everything(redis_client)
    assert secret not in repr(issued).encode()
    assert repr(issued) == f"{type(issued).__name__}('{issued.id}')"


def test_many_tokens_are_checked_in_the_order_of_their_texts(tokens):
    one, two = (tokens.issue(account, "phone", ["play"]) for account in (ALICE, BOB))
    texts = [two.text, make_token(), one.text, "nonsense", one.text, one.text[:-1]]
    assert check(tokens, texts) == [shown(two), None, shown(one), None, shown(one), None]


def test_texts_that_can_be_no_tokens_are_told_without_asking_the_server():
    asked = Tokens(Redis(unix_socket_path="/nowhere"))
    assert check(asked, ["nonsense", make_token()[:-1]]) == [None, None]
    assert check(asked, []) == []
    refused(Code.UNKNOWN_TOKEN, check_one, asked, "nonsense")


def test_a_token_that_was_never_issued_is_refused(tokens):
    assert check(tokens, [make_token()]) == [None]


def test_a_key_that_agrees_with_half_of_a_hash_is_not_enough(tokens, redis_client):
    issued = tokens.issue(ALICE, "phone", ["play"])
    name = keys.token(digest_of(issued.text))
    data = bytearray(redis_client.get(name))
    data[31] ^= 1
    redis_client.set(name, bytes(data))
    refused(Code.UNKNOWN_TOKEN, check_one, tokens, issued.text)


def test_an_event_loop_checks_tokens_alike(tokens, valkey, clock):
    issued = tokens.issue(ALICE, "phone", ["play"])
    texts = [issued.text, make_token(), "nonsense"]

    async def check() -> list[Token | None]:
        async with make_async_client(valkey.url) as client, AutoPipeline(client) as pipe:
            checked = AsyncTokens(pipe, ServerTime(clock))
            return [await checked.check(text) for text in texts]

    assert asyncio.run(check()) == [shown(issued), None, None]
    assert check_one(tokens, issued.text).last_used == MIDNIGHT


def test_an_event_loop_reads_more_in_the_exchange_that_checks_a_token(
    tokens, redis_client, valkey, clock
):
    issued = tokens.issue(ALICE, "phone", ["play"])
    redis_client.set("more", "read")

    class Counted(AutoPipeline):
        exchanges = 0

        def submit(self, commands: Any) -> Any:
            self.exchanges += 1
            return super().submit(commands)

    async def check() -> int:
        async with make_async_client(valkey.url) as client, Counted(client) as pipe:
            checked = AsyncTokens(pipe, ServerTime(clock))
            await checked.check(issued.text)
            before = pipe.exchanges
            token, replies = await checked.check_and_read(issued.text, [("GET", "more")])
            assert (token, replies) == (check_one(tokens, issued.text), [b"read"])
            unknown, replies = await checked.check_and_read(make_token(), [("GET", "more")])
            assert (unknown, replies) == (None, [b"read"])
            assert await checked.check_and_read("nonsense", [("GET", "more")]) == (None, [])
            return pipe.exchanges - before

    assert asyncio.run(check()) == 2


@pytest.mark.usefixtures("tokens")
def test_an_event_loop_asks_for_the_time_once_in_a_while(redis_client, valkey):
    issued = Tokens(redis_client).issue(ALICE, "phone", ["play"])
    redis_client.config_resetstat()

    async def check() -> None:
        async with make_async_client(valkey.url) as client, AutoPipeline(client) as pipe:
            checked = AsyncTokens(pipe, ServerTime())
            for _ in range(3):
                assert await checked.check(issued.text)

    asyncio.run(check())
    assert redis_client.info("commandstats")["cmdstat_time"]["calls"] == 1


def test_an_error_of_the_server_is_raised_and_not_taken_for_a_refusal(tokens, redis_client):
    issued = tokens.issue(ALICE, "phone", ["play"])
    redis_client.delete(keys.token(digest_of(issued.text)))
    redis_client.lpush(keys.token(digest_of(issued.text)), "no record")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        check(tokens, [issued.text])


@pytest.mark.parametrize("label", ["", "  ", "two\nlines", "\x1b[2J", "\u202egnp", "\udc80"])
def test_a_label_is_printable_and_says_something(tokens, redis_client, label):
    kept = everything(redis_client)
    refused(Code.BAD_REQUEST, tokens.issue, ALICE, label, ["play"])
    assert everything(redis_client) == kept


def test_a_label_has_at_most_60_characters(tokens):
    assert tokens.issue(ALICE, "é" * 60, ["play"]).label == "é" * 60
    assert "61" in refused(Code.TOO_LONG, tokens.issue, ALICE, "é" * 61, ["play"])


@pytest.mark.parametrize("scopes", [[], ["root"], ["play", "all"], "play"])
def test_scopes_are_known_ones_and_at_least_one(tokens, scopes):
    assert "read, play, account" in refused(Code.BAD_REQUEST, tokens.issue, ALICE, "x", scopes)


@pytest.mark.parametrize("days", [0, -1, DAYS[-1] + 1])
def test_a_token_lasts_at_least_a_day_and_at_most_ten_years(tokens, days):
    assert str(days) in refused(Code.BAD_REQUEST, tokens.issue, ALICE, "x", ["play"], days)


def test_an_account_that_is_not_there_gets_no_token(tokens, redis_client):
    redis_client.delete(keys.account(ALICE))
    refused(Code.UNKNOWN_USER, tokens.issue, ALICE, "phone", ["play"])
    assert redis_client.keys() == [keys.account(BOB).encode()]


# time


@pytest.mark.parametrize("days", [1, 30, DAYS[-1]])
def test_a_token_is_good_for_its_days_and_gone_from_the_server_after_them(
    tokens, redis_client, clock, days
):
    issued = tokens.issue(ALICE, "phone", ["play"], days)
    name = keys.token(digest_of(issued.text))
    assert days * DAY - 60_000 < redis_client.pttl(name) <= days * DAY
    clock.now += days * DAY - 1
    assert check_one(tokens, issued.text).id == issued.id
    clock.now += 1
    refused(Code.UNKNOWN_TOKEN, check_one, tokens, issued.text)
    assert tokens.list_of(ALICE) == []


def test_a_token_may_last_until_it_is_revoked(tokens, redis_client, clock):
    issued = tokens.issue(ALICE, "phone", ["play"], None)
    assert issued.expires is None
    assert redis_client.ttl(keys.token(digest_of(issued.text))) == FOR_GOOD
    clock.now += 4000 * DAY
    assert check_one(tokens, issued.text).id == issued.id


def test_without_a_clock_the_server_tells_the_time(redis_client):
    redis_client.set(keys.account(ALICE), "a record")
    tokens = Tokens(redis_client)
    before = redis_client.time()[0] * 1000
    issued = tokens.issue(ALICE, "phone", ["play"])
    check_one(tokens, issued.text)
    after = redis_client.time()[0] * 1000 + 999
    assert before <= issued.created <= after
    assert check_one(tokens, issued.text).last_used in {before - before % DAY, after - after % DAY}


def test_the_last_day_of_use_is_kept_and_no_more_of_it(tokens, clock):
    issued = tokens.issue(ALICE, "phone", ["play"])
    assert tokens.list_of(ALICE)[0].last_used is None
    check(tokens, [issued.text])
    assert tokens.list_of(ALICE)[0].last_used == MIDNIGHT
    clock.now = MIDNIGHT + DAY - 1
    check(tokens, [issued.text])
    assert tokens.list_of(ALICE)[0].last_used == MIDNIGHT
    clock.now += 1
    check(tokens, [issued.text])
    assert tokens.list_of(ALICE)[0].last_used == MIDNIGHT + DAY


def test_a_use_is_written_once_a_day_and_changes_nothing_else(tokens, redis_client):
    issued = tokens.issue(ALICE, "phone", ["play"], 7)
    name = keys.token(digest_of(issued.text))

    def written() -> int:
        return redis_client.info("commandstats").get("cmdstat_set", {"calls": 0})["calls"]

    before = written()
    for _ in range(5):
        check(tokens, [issued.text, issued.text])
    assert written() == before + 1
    assert 7 * DAY - 60_000 < redis_client.pttl(name) <= 7 * DAY
    assert check_one(tokens, issued.text) == Token(
        **{**asdict(shown(issued)), "last_used": MIDNIGHT}
    )


def test_tokens_are_good_where_a_full_server_can_not_write_their_use(tokens, redis_client, caplog):
    issued = tokens.issue(ALICE, "phone", ["play"])
    redis_client.config_set("maxmemory", 1)
    try:
        with caplog.at_level(logging.WARNING):
            assert check(tokens, [issued.text]) == [shown(issued)]
    finally:
        redis_client.config_set("maxmemory", 0)
    (record,) = (one for one in caplog.records if one.levelno == logging.WARNING)
    assert "use of 1 tokens was not written down" in record.getMessage()
    check(tokens, [issued.text])
    assert check_one(tokens, issued.text).last_used == MIDNIGHT


# listed and revoked


def test_an_account_sees_its_own_tokens_the_newest_first(tokens, clock):
    issued = []
    for label in ("one", "two", "three"):
        issued.append(tokens.issue(ALICE, label, ["play"]))
        clock.now += 1
    tokens.issue(BOB, "bob's", ["read"])
    assert tokens.list_of(ALICE) == [shown(token) for token in reversed(issued)]


def test_a_revoked_token_is_refused_at_once_by_everybody(tokens, redis_client, clock):
    other = Tokens(redis_client, clock)
    one, two = (tokens.issue(ALICE, label, ["play"]) for label in ("one", "two"))
    assert all(check(other, [one.text, two.text]))
    assert tokens.revoke(ALICE, one.id) is True
    assert [token and token.id for token in check(other, [one.text, two.text])] == [None, two.id]
    assert [token.id for token in tokens.list_of(ALICE)] == [two.id]


def test_a_token_can_be_revoked_only_once_and_by_its_own_account(tokens):
    issued = tokens.issue(ALICE, "phone", ["play"])
    assert tokens.revoke(BOB, issued.id) is False
    assert check_one(tokens, issued.text)
    assert tokens.revoke(ALICE, issued.id) is True
    assert tokens.revoke(ALICE, issued.id) is False


@pytest.mark.parametrize("id_", ["", "0" * 16, "x" * 16, "\udc80", "A1" * 8, "*"])
def test_an_id_that_is_none_revokes_nothing(tokens, id_):
    issued = tokens.issue(ALICE, "phone", ["play"])
    assert tokens.revoke(ALICE, id_) is False
    assert check_one(tokens, issued.text)


def test_an_account_has_at_most_50_tokens(tokens, redis_client):
    issued = [tokens.issue(ALICE, f"token {number}", ["play"]) for number in range(MOST_TOKENS)]
    assert str(MOST_TOKENS) in refused(Code.TOO_MANY, tokens.issue, ALICE, "one more", ["play"])
    assert len(redis_client.keys("{t:*")) == len(tokens.list_of(ALICE)) == MOST_TOKENS
    tokens.issue(BOB, "bob's", ["play"])
    tokens.revoke(ALICE, issued[7].id)
    assert tokens.issue(ALICE, "one more", ["play"]).label == "one more"


def test_tokens_that_have_expired_leave_room_for_others(tokens, redis_client):
    issued = [tokens.issue(ALICE, f"token {number}", ["play"]) for number in range(MOST_TOKENS)]
    for token in issued[:3]:  # as Redis does by itself when their time has come
        redis_client.delete(keys.token(digest_of(token.text)))
    new = [tokens.issue(ALICE, f"new {number}", ["play"]) for number in range(3)]
    assert {token.id for token in tokens.list_of(ALICE)} == {t.id for t in issued[3:] + new}
    refused(Code.TOO_MANY, tokens.issue, ALICE, "one more", ["play"])


def test_tokens_issued_at_once_are_no_more_than_there_may_be(tokens):
    def issue(number: int) -> bool:
        try:
            return bool(tokens.issue(ALICE, f"token {number}", ["play"]))
        except Refusal as refusal:
            assert refusal.code is Code.TOO_MANY  # noqa: PT017 - some of them are refused
            return False

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(issue, range(MOST_TOKENS + 10)))
    assert sum(made) == len(tokens.list_of(ALICE)) == MOST_TOKENS


# erased


def test_forgetting_erases_all_tokens_of_an_account_and_nobody_elses(tokens, redis_client):
    kept = tokens.issue(BOB, "bob's", ["play"])
    before = everything(redis_client)
    issued = [tokens.issue(ALICE, f"token {number}", ["play"]) for number in range(5)]
    for _ in range(2):
        tokens.forget(ALICE)
        assert everything(redis_client) == before
    assert check(tokens, [token.text for token in issued]) == [None] * 5
    assert check_one(tokens, kept.text)


def test_a_token_of_an_account_that_is_no_more_is_refused(tokens, redis_client):
    alices, bobs = (tokens.issue(account, "phone", ["play"]) for account in (ALICE, BOB))
    redis_client.delete(keys.account(ALICE))
    assert [token and token.id for token in check(tokens, [alices.text, bobs.text])] == [
        *(None, bobs.id)
    ]
    refused(Code.UNKNOWN_TOKEN, check_one, tokens, alices.text)
