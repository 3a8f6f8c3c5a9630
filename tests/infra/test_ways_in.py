"""Sessions and access tokens: found by the hash of their text, ended at once, erased with the account."""

import asyncio
import logging
import random
import re
import string
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec.structs import asdict
from redis import Redis
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from infra.people import sessions as of_sessions
from infra.people import tokens as of_tokens
from infra.people.accounts import Accounts
from infra.people.sessions import MOST_SESSIONS, FreshSession, Sessions, list_key, record_key
from infra.people.tokens import FreshToken, Scope, Token, Tokens, digest_of
from infra.people.tokens.tokens import make_token
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.redis.server import ServerTime
from tests.fakes.app import CHEAP
from tests.fakes.tokens import check, check_one
from tests.helpers.examples import refused
from tests.helpers.interrupted import interrupted
from tests.helpers.proposals import ALICE, BOB, Clock

DAY = 24 * 3_600_000
MIDNIGHT = 19_700 * DAY
FOR_GOOD = -1
"""What Redis calls the life of a key that does not expire."""
ALPHABET = string.ascii_letters + string.digits + "-_"


@pytest.fixture
def clock() -> Clock:
    made = Clock()
    made.now = MIDNIGHT + 1234
    return made


@pytest.fixture
def sessions(server: Redis, clock: Clock) -> Sessions:
    return Sessions(server, clock)


@pytest.fixture
def tokens(server: Redis, clock: Clock) -> Tokens:
    return Tokens(server, clock)


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


class SessionWay:
    """Sessions, spoken to as both kinds of secrets are."""

    most, records, left_ms = MOST_SESSIONS, "{w:*", 1000 * of_sessions.UNLISTED_SECONDS

    def __init__(self, client: Redis, clock: Clock | None = None) -> None:
        self.store = Sessions(client, clock)
        self.forget, self.end, self.list_of = self.store.forget, self.store.end, self.store.list_of

    def open(self, account: bytes, label: str = "phone") -> FreshSession:
        return self.store.open(account, label)

    def id_of(self, text: str) -> str | None:
        found = self.store.check(text)
        return found and found.session.id


class TokenWay:
    """Access tokens, in the same way."""

    most, records, left_ms = of_tokens.MOST_TOKENS, "{t:*", of_tokens.UNLISTED_MS

    def __init__(self, client: Redis, clock: Clock | None = None) -> None:
        self.store = Tokens(client, clock)
        self.forget, self.end = self.store.forget, self.store.revoke
        self.list_of = self.store.list_of

    def open(self, account: bytes, label: str = "phone") -> FreshToken:
        return self.store.issue(account, label, ["play"])

    def id_of(self, text: str) -> str | None:
        (found,) = check(self.store, [text])
        return found and found.id


Way = SessionWay | TokenWay


@pytest.fixture(params=[SessionWay, TokenWay], ids=["session", "token"])
def way(request: pytest.FixtureRequest, server: Redis, clock: Clock) -> Way:
    return request.param(server, clock)


def test_secrets_are_good_until_they_are_ended_by_their_account_as_a_plain_model_says(
    way, server, clock
):
    """For every process, and listed the newest first."""
    elsewhere, chance = type(way)(server, clock), random.Random(5)
    made, good = [], {ALICE: [], BOB: []}
    for step in range(120):
        clock.now += 1
        account = chance.choice([ALICE, BOB])
        if step % 40 == 39:
            way.forget(account)
            good[account] = []
        elif made and chance.random() < 0.5:
            one = chance.choice(made)
            assert way.end(account, one.id) is (one in good[account])
            good[account] = [other for other in good[account] if other is not one]
        elif len(good[account]) < way.most:
            made.append(way.open(account, f"label {step}"))
            good[account].insert(0, made[-1])
        lasting = {one.text for ones in good.values() for one in ones}
        for one in made:
            assert elsewhere.id_of(one.text) == (one.id if one.text in lasting else None)
        for owner, ones in good.items():
            listed = elsewhere.list_of(owner)
            assert [one.id for one in listed] == [one.id for one in ones]
            assert all(one.account == owner for one in listed)
    way.forget(ALICE)
    way.forget(BOB)
    assert not server.keys(way.records)
    assert b"label" not in everything(server)
    assert len({one.text for one in made}) == len({one.id for one in made}) == len(made)


def test_nothing_that_is_stored_or_shown_tells_the_text_and_half_a_hash_is_not_enough(way, server):
    opened = way.open(ALICE)
    secret = opened.text[3:-6].encode()
    assert way.id_of(opened.text) == opened.id
    assert secret not in everything(server)
    assert secret not in repr(opened).encode()
    assert opened.id in repr(opened)
    (name,) = server.keys(way.records)
    data = bytearray(server.get(name))
    data[31] ^= 1
    server.set(name, bytes(data))
    assert way.id_of(opened.text) is None


def test_a_secret_ends_with_its_account_and_who_has_none_gets_none(way, server):
    alices, bobs = way.open(ALICE), way.open(BOB)
    server.delete(keys.account(ALICE))
    assert [way.id_of(one.text) for one in (alices, bobs)] == [None, bobs.id]
    before = everything(server)
    refused(Code.UNKNOWN_USER, way.open, ALICE)
    assert everything(server) == before


def test_killed_anywhere_no_secret_stays_that_is_not_listed(way, server, valkey, clock):
    way.open(ALICE)  # from here on the server knows the script
    listing = (f"{keys.account(ALICE)}:sessions", keys.tokens(ALICE))

    def prepare() -> Callable[[Redis], object]:
        server.delete(*server.keys(way.records), *listing)
        return lambda client: type(way)(client, clock).open(ALICE)

    for _ in interrupted(valkey, prepare):
        listed = len(way.list_of(ALICE))
        for name in server.keys(way.records):
            assert listed or 0 < server.pttl(name) <= way.left_ms
        way.forget(ALICE)
        assert all(server.pttl(name) > 0 for name in server.keys(way.records))


def test_a_session_ends_after_14_days_without_use_or_30_days_after_the_login(
    sessions, redis_client, clock
):
    opened, start = sessions.open(ALICE), clock.now
    (digest,) = redis_client.hgetall(list_key(ALICE)).values()

    def days_left() -> float:
        return redis_client.pttl(record_key(digest)) / DAY

    assert 14.9 < days_left() <= 15
    for day, left in ((10, 15), (20, 10), (29, 1)):
        clock.now = start + day * DAY
        assert sessions.check(opened.text) is not None
        assert left - 0.1 < days_left() <= left
    redis_client.delete(record_key(digest))
    assert sessions.check(opened.text) is None
    assert sessions.list_of(ALICE) == []
    assert not redis_client.exists(list_key(ALICE))


def test_only_the_day_of_the_last_use_is_written_down_and_once(sessions, clock, monkeypatch):
    opened = sessions.open(ALICE)
    found = sessions.check(opened.text)
    assert sessions.list_of(ALICE)[0].last_used is None
    clock.now += 3 * DAY
    sessions.check(opened.text)
    assert sessions.list_of(ALICE)[0].last_used == MIDNIGHT + 3 * DAY
    with monkeypatch.context() as patched:
        patched.setattr(sessions._client, "set", pytest.fail)
        clock.now += DAY // 2
        assert sessions.check(opened.text) is not None
    # what is ended while its use is written down does not come back
    sessions.end(ALICE, opened.id)
    sessions.note_use(opened.text, found._replace(now=clock.now + DAY))
    assert sessions.check(opened.text) is None


def test_one_session_too_many_ends_the_oldest_and_all_others_are_ended_at_once(sessions, clock):
    opened, bobs = [], sessions.open(BOB)
    for _ in range(MOST_SESSIONS + 2):
        clock.now += 1
        opened.append(sessions.open(ALICE))
    good = [session.id for session in opened if sessions.check(session.text)]
    assert good == [session.id for session in opened[2:]]
    sessions.end_others(ALICE, good[0])
    assert [one.id for one in opened if sessions.check(one.text)] == good[:1]
    assert sessions.check(bobs.text) is not None


def test_a_session_is_known_by_its_text_and_has_a_label_that_is_cut_and_printable(sessions):
    opened = sessions.open(ALICE, "Fire\x00fox\n" + "x" * 500)
    assert opened.label.startswith("Firefoxx")
    assert len(opened.label) == of_sessions.LABEL_LENGTH
    session = sessions.check(opened.text).session
    assert (session.account, session.id, session.label) == (ALICE, opened.id, opened.label)
    assert len(opened.text) == 43, "256 bits"
    for text in ("", "a", "a" * 42, "a" * 43, "a" * 44, "ä" * 43, "a" * 42 + "\n"):
        assert sessions.check(text) is None


def test_tokens_are_checked_by_their_texts(tokens, clock):
    one = tokens.issue(ALICE, "  my phone ", [Scope.PLAY, Scope.READ, Scope.PLAY])
    assert shown(one) == Token(
        account=ALICE, id=one.id, label="my phone", scopes=(Scope.READ, Scope.PLAY),
        created=clock.now, expires=clock.now + of_tokens.USUAL_DAYS * DAY,
    )  # fmt: skip
    assert re.fullmatch("[0-9a-f]{16}", one.id)
    two = tokens.issue(BOB, "phone", ["play"])
    texts = [two.text, make_token(), one.text, "nonsense", one.text[:-1]]
    assert check(tokens, texts) == [shown(two), None, shown(one), None, None]
    assert check(Tokens(Redis(unix_socket_path="/nowhere")), ["nonsense"]) == [None]
    refused(Code.UNKNOWN_TOKEN, check_one, tokens, make_token())


def test_an_event_loop_checks_tokens_alike_and_reads_more_in_the_same_exchange(
    tokens, server, valkey, clock, monkeypatch
):
    issued = tokens.issue(ALICE, "phone", ["play"])
    server.set("more", "read")
    exchanges, submit = [], AutoPipeline.submit
    monkeypatch.setattr(
        AutoPipeline, "submit", lambda pipe, asked: exchanges.append(asked) or submit(pipe, asked)
    )

    async def ask() -> None:
        async with make_async_client(valkey.url) as client, AutoPipeline(client) as pipe:
            checked = of_tokens.AsyncTokens(pipe, ServerTime(clock))
            texts = [issued.text, make_token(), "nonsense"]
            assert [await checked.check(text) for text in texts] == [shown(issued), None, None]
            good = check_one(tokens, issued.text)
            assert good.last_used == MIDNIGHT
            exchanges.clear()
            more: list[tuple[Any, ...]] = [("GET", "more")]
            assert await checked.check_and_read(issued.text, more) == (good, [b"read"])
            assert await checked.check_and_read(make_token(), more) == (None, [b"read"])
            assert await checked.check_and_read("nonsense", more) == (None, [])
            assert len(exchanges) == 2

    asyncio.run(ask())


def test_an_error_of_the_server_is_raised_and_not_taken_for_a_refusal(tokens, redis_client):
    issued = tokens.issue(ALICE, "phone", ["play"])
    redis_client.delete(keys.token(digest_of(issued.text)))
    redis_client.lpush(keys.token(digest_of(issued.text)), "no record")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        check(tokens, [issued.text])


def test_labels_scopes_and_days_that_are_none_are_refused(tokens, server):
    kept = everything(server)
    for label in ("", "  ", "two\nlines", "\x1b[2J", "\u202egnp", "\udc80"):
        refused(Code.BAD_REQUEST, tokens.issue, ALICE, label, ["play"])
    assert "61" in refused(Code.TOO_LONG, tokens.issue, ALICE, "é" * 61, ["play"])
    for scopes in ([], ["root"], ["play", "all"], "play"):
        assert "read, play, account" in refused(Code.BAD_REQUEST, tokens.issue, ALICE, "x", scopes)
    for days in (0, -1, of_tokens.DAYS[-1] + 1):
        assert str(days) in refused(Code.BAD_REQUEST, tokens.issue, ALICE, "x", ["play"], days)
    assert everything(server) == kept
    assert tokens.issue(ALICE, "é" * 60, ["play"]).label == "é" * 60


def test_a_token_is_good_for_its_days_or_until_it_is_revoked(tokens, redis_client, clock):
    for days in (1, 30, of_tokens.DAYS[-1]):
        issued = tokens.issue(ALICE, "phone", ["play"], days)
        name = keys.token(digest_of(issued.text))
        assert days * DAY - 60_000 < redis_client.pttl(name) <= days * DAY
        clock.now += days * DAY - 1
        assert check_one(tokens, issued.text).id == issued.id
        clock.now += 1
        refused(Code.UNKNOWN_TOKEN, check_one, tokens, issued.text)
        assert tokens.list_of(ALICE) == []
    issued = tokens.issue(ALICE, "phone", ["play"], None)
    assert issued.expires is None
    assert redis_client.ttl(keys.token(digest_of(issued.text))) == FOR_GOOD
    clock.now += 4000 * DAY
    assert check_one(tokens, issued.text).id == issued.id


def test_a_use_is_written_once_a_day_and_changes_nothing_else(tokens, redis_client, clock):
    issued = tokens.issue(ALICE, "phone", ["play"], 7)
    name = keys.token(digest_of(issued.text))
    assert tokens.list_of(ALICE)[0].last_used is None

    def written() -> int:
        return redis_client.info("commandstats").get("cmdstat_set", {"calls": 0})["calls"]

    for now, day in ((clock.now, 0), (MIDNIGHT + DAY - 1, 0), (MIDNIGHT + DAY, DAY)):
        before, clock.now = written(), now
        for _ in range(3):
            check(tokens, [issued.text, issued.text])
        assert written() == before + (now != MIDNIGHT + DAY - 1)
        used = Token(**{**asdict(shown(issued)), "last_used": MIDNIGHT + day})
        assert check_one(tokens, issued.text) == tokens.list_of(ALICE)[0] == used
        assert 6 * DAY - 60_000 < redis_client.pttl(name) <= 7 * DAY


def test_tokens_are_good_where_a_full_server_can_not_write_their_use(tokens, redis_client, caplog):
    issued = tokens.issue(ALICE, "phone", ["play"])
    redis_client.config_set("maxmemory", 1)
    try:
        with caplog.at_level(logging.WARNING):
            assert check(tokens, [issued.text]) == [shown(issued)]
    finally:
        redis_client.config_set("maxmemory", 0)
    (record,) = (one for one in caplog.records if one.levelno == logging.WARNING)
    assert "use of a token was not written down" in record.getMessage()
    check(tokens, [issued.text])
    assert check_one(tokens, issued.text).last_used == MIDNIGHT


def test_an_account_has_at_most_50_tokens_and_those_that_have_ended_leave_room(
    tokens, redis_client
):
    issued = [
        tokens.issue(ALICE, f"token {number}", ["play"]) for number in range(of_tokens.MOST_TOKENS)
    ]
    assert str(of_tokens.MOST_TOKENS) in refused(
        Code.TOO_MANY, tokens.issue, ALICE, "one more", ["play"]
    )
    assert len(redis_client.keys("{t:*")) == len(tokens.list_of(ALICE)) == of_tokens.MOST_TOKENS
    tokens.issue(BOB, "bob's", ["play"])
    tokens.revoke(ALICE, issued[7].id)
    for token in issued[:3]:  # as Redis does by itself when their time has come
        redis_client.delete(keys.token(digest_of(token.text)))
    new = [tokens.issue(ALICE, f"new {number}", ["play"]) for number in range(4)]
    left = {token.id for token in [*issued[3:7], *issued[8:], *new]}
    assert {token.id for token in tokens.list_of(ALICE)} == left
    refused(Code.TOO_MANY, tokens.issue, ALICE, "one more", ["play"])


def test_a_token_that_is_revoked_at_any_step_is_good_or_gone(tokens, server, valkey, clock):
    """Where the revoking process is killed, and while the use of the token is written."""
    issued, outcomes = [], set()

    def prepare() -> Callable[[Redis], object]:
        issued.append(tokens.issue(ALICE, "phone", ["play"]))
        return lambda client: Tokens(client, clock).revoke(ALICE, issued[-1].id)

    for _ in interrupted(valkey, prepare):
        (good,) = check(tokens, [issued[-1].text])
        assert [one.id for one in tokens.list_of(ALICE)] == [issued[-1].id] * bool(good)
        assert tokens.revoke(ALICE, issued[-1].id) is bool(good)
        assert not server.exists(keys.tokens(ALICE))
        outcomes.add(bool(good))
    assert outcomes == {True, False}
    assert server.keys("{t:*") == []

    def use() -> Callable[[Redis], object]:
        tokens.forget(ALICE)
        prepare()
        return lambda client: check(Tokens(client, clock), [issued[-1].text])

    for _ in interrupted(valkey, use, lambda: tokens.revoke(ALICE, issued[-1].id)):
        assert check(tokens, [issued[-1].text]) == [None]
        assert server.keys("{t:*") == []


def test_an_account_deleted_at_any_step_leaves_no_token(redis_client, valkey):
    """Where the deleting process is killed, and while a token is issued."""
    accounts, tokens = Accounts(redis_client, CHEAP), Tokens(redis_client)
    texts, made, seen, answers = [], [], set(), set()

    def delete_alice(client: Redis) -> None:
        Accounts(client, CHEAP).delete("alice", "mad-hatter", Tokens(client).forget)

    def signed_up() -> bytes:
        redis_client.flushall()
        made.append(accounts.signup("alice", "mad-hatter"))
        return made[-1]

    def prepare() -> Callable[[Redis], object]:
        alice = signed_up()
        texts[:] = [tokens.issue(alice, f"token {number}", ["play"]).text for number in range(3)]
        return delete_alice

    for _ in interrupted(valkey, prepare):
        whole = bool(redis_client.exists(keys.account(made[-1])))
        good = [bool(token) for token in check(tokens, texts)]
        assert whole or not any(good)
        seen.add((whole, all(good)))
        with suppress(Refusal):  # it was finished
            delete_alice(redis_client)
        # attempts at passwords may be left by a kill for a while
        assert [key for key in redis_client.scan_iter() if not key.startswith(b"logins:")] == []
    assert seen == {(True, True), (True, False), (False, False)}

    def issue() -> Callable[[Redis], object]:
        alice = signed_up()
        return lambda client: Tokens(client).issue(alice, "phone", ["play"])

    for error in interrupted(valkey, issue, lambda: delete_alice(redis_client)):
        answers.add(error and error.code)
        assert redis_client.keys() == []
    assert answers >= {Code.UNKNOWN_USER, Code.BUSY}


def test_a_token_is_a_prefix_and_49_characters_that_need_no_quoting():
    made = {make_token() for _ in range(1000)}
    assert len(made) == 1000
    text = made.pop()
    assert re.fullmatch(r"mp_[A-Za-z0-9_-]{49}", text)
    assert len(text) == of_tokens.LENGTH
    assert digest_of(text) == sha256(text.encode()).digest()


@given(st.integers(0, of_tokens.LENGTH - 1), st.sampled_from(ALPHABET + " é\n."))
def test_a_token_with_one_wrong_character_is_no_token(place, character):
    text = make_token()
    assume(text[place] != character)
    refused(Code.UNKNOWN_TOKEN, digest_of, f"{text[:place]}{character}{text[place + 1 :]}")


@given(st.text())
@example("mp_" + "A" * 49)
@example("mp_" + "\udc80" * 49)
@example("Mp_" + "A" * 49)
def test_any_other_text_is_no_token_and_is_not_repeated(text):
    sentence = refused(Code.UNKNOWN_TOKEN, digest_of, text)
    assert len(text) < 20 or text not in sentence
