"""Sessions of browsers: found by the hash of their text, ended at once, erased with the account."""

import itertools
from collections.abc import Callable
from contextlib import closing

import pytest
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.sessions import (
    LABEL_LENGTH,
    MOST_SESSIONS,
    UNLISTED_SECONDS,
    Sessions,
    list_key,
    record_key,
)
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from tests.helpers.steps import Killed, Steps, kill, stepped_client

ALICE, BOB = bytes([0xA1]) * 8, bytes([0xB0]) * 8
DAY = 24 * 3_600_000
MIDNIGHT = 19_700 * DAY


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
def sessions(redis_client: Redis, clock: Clock) -> Sessions:
    """The sessions of a server on which Alice and Bob have accounts."""
    for account in (ALICE, BOB):
        redis_client.set(keys.account(account), "a record")
    return Sessions(redis_client, clock)


def refused(call: Callable[..., object], *args: object) -> Code:
    with pytest.raises(Refusal) as caught:
        call(*args)
    return caught.value.code


def everything(client: Redis) -> bytes:
    """All that is stored, names and values."""
    found = []
    for name in sorted(client.scan_iter()):
        kind = client.type(name)
        found += [name, *(client.hgetall(name).items() if kind == b"hash" else [client.get(name)])]
    return repr(found).encode()


def test_a_session_is_known_by_its_text(sessions):
    opened = sessions.open(ALICE, "Firefox on Linux")
    session = sessions.check(opened.text).session
    assert (session.account, session.id, session.label) == (ALICE, opened.id, "Firefox on Linux")


def test_no_two_texts_are_alike_and_each_has_256_bits(sessions):
    texts = {sessions.open(ALICE).text for _ in range(MOST_SESSIONS)}
    assert len(texts) == MOST_SESSIONS
    assert {len(text) for text in texts} == {43}


@pytest.mark.parametrize("text", ["", "a", "a" * 42, "a" * 43, "a" * 44, "ä" * 43, "a" * 42 + "\n"])
def test_any_other_text_is_none(sessions, text):
    sessions.open(ALICE)
    assert sessions.check(text) is None


def test_nothing_that_is_stored_tells_the_text(sessions, redis_client):
    opened = sessions.open(ALICE, "Firefox")
    assert opened.text.encode() not in everything(redis_client)
    assert opened.text not in repr(opened)


def test_half_a_hash_that_fits_is_not_enough(sessions, redis_client):
    opened = sessions.open(ALICE)
    (digest,) = redis_client.hgetall(list_key(ALICE)).values()
    data = redis_client.get(record_key(digest))
    redis_client.set(record_key(digest), data[:31] + bytes([data[31] ^ 1]) + data[32:])
    assert sessions.check(opened.text) is None


def days_left(client: Redis) -> float:
    (digest,) = client.hgetall(list_key(ALICE)).values()
    return client.pttl(record_key(digest)) / DAY


def test_a_session_ends_after_14_days_without_use_or_30_days_after_the_login(
    sessions, redis_client, clock
):
    opened, start = sessions.open(ALICE), clock.now
    assert 14.9 < days_left(redis_client) <= 15
    for day, left in ((10, 15), (20, 10), (29, 1)):
        clock.now = start + day * DAY
        assert sessions.check(opened.text) is not None
        assert left - 0.1 < days_left(redis_client) <= left
    (digest,) = redis_client.hgetall(list_key(ALICE)).values()
    redis_client.delete(record_key(digest))
    assert sessions.check(opened.text) is None
    assert sessions.list_of(ALICE) == []
    assert not redis_client.exists(list_key(ALICE))


def test_only_the_first_use_of_a_day_is_written(sessions, clock, monkeypatch):
    opened = sessions.open(ALICE)
    clock.now += DAY
    sessions.check(opened.text)
    monkeypatch.setattr(sessions._client, "set", pytest.fail)
    clock.now += DAY // 2
    assert sessions.check(opened.text) is not None


def test_the_day_of_the_last_use_is_written_down_and_not_the_hour(sessions, clock):
    opened = sessions.open(ALICE)
    sessions.check(opened.text)
    assert sessions.list_of(ALICE)[0].last_used is None
    clock.now += 3 * DAY
    sessions.check(opened.text)
    assert sessions.list_of(ALICE)[0].last_used == MIDNIGHT + 3 * DAY


def test_what_is_ended_while_its_use_is_written_down_does_not_come_back(sessions, clock):
    opened = sessions.open(ALICE)
    found = sessions.check(opened.text)
    sessions.end(ALICE, opened.id)
    sessions.note_use(opened.text, found._replace(now=clock.now + DAY))
    assert sessions.check(opened.text) is None


def test_the_newest_session_is_listed_first(sessions, clock):
    first = sessions.open(ALICE, "one")
    clock.now += 1
    second = sessions.open(ALICE, "two")
    assert [session.id for session in sessions.list_of(ALICE)] == [second.id, first.id]
    assert sessions.list_of(BOB) == []


def test_an_ended_session_is_good_nowhere(sessions):
    opened, other = sessions.open(ALICE), sessions.open(ALICE)
    assert sessions.end(ALICE, opened.id)
    assert sessions.check(opened.text) is None
    assert sessions.check(other.text) is not None


def test_ending_twice_or_somebody_elses_session_does_nothing(sessions):
    opened = sessions.open(ALICE)
    assert not sessions.end(BOB, opened.id)
    assert not sessions.end(ALICE, "0" * 16)
    assert not sessions.end(ALICE, "no id")
    assert sessions.end(ALICE, opened.id)
    assert not sessions.end(ALICE, opened.id)


def test_all_others_are_ended_at_once(sessions):
    stays, goes, bobs = sessions.open(ALICE), sessions.open(ALICE), sessions.open(BOB)
    sessions.end_others(ALICE, stays.id)
    assert sessions.check(goes.text) is None
    assert sessions.check(stays.text) is not None
    assert sessions.check(bobs.text) is not None


def test_one_session_too_many_ends_the_oldest(sessions, clock):
    opened = []
    for _ in range(MOST_SESSIONS + 2):
        clock.now += 1
        opened.append(sessions.open(ALICE))
    good = [session.id for session in opened if sessions.check(session.text)]
    assert good == [session.id for session in opened[2:]]


def test_a_label_is_cut_and_holds_nothing_unprintable(sessions):
    opened = sessions.open(ALICE, "Fire\x00fox\n" + "x" * 500)
    assert opened.label.startswith("Firefoxx")
    assert len(opened.label) == LABEL_LENGTH


def test_who_has_no_account_gets_no_session(sessions, redis_client):
    redis_client.delete(keys.account(ALICE))
    assert refused(sessions.open, ALICE) is Code.UNKNOWN_USER
    assert list(redis_client.scan_iter("{w:*")) == []


def test_a_session_ends_with_its_account_whatever_was_erased(sessions, redis_client):
    opened = sessions.open(ALICE)
    redis_client.delete(keys.account(ALICE))
    assert sessions.check(opened.text) is None


def test_forgetting_erases_all_sessions_of_an_account_and_no_others(sessions, redis_client):
    opened, bobs = sessions.open(ALICE, "Firefox"), sessions.open(BOB)
    sessions.forget(ALICE)
    sessions.forget(ALICE)
    assert sessions.check(opened.text) is None
    assert sessions.check(bobs.text) is not None
    assert len(list(redis_client.scan_iter("{w:*"))) == 1
    assert b"Firefox" not in everything(redis_client)


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_any_step_no_session_stays_that_is_not_listed(
    sessions, redis_client, valkey: EmbeddedServer, clock, after
):
    sessions.open(ALICE)  # from here on the server knows the script
    for step in itertools.count(1):
        client, begin = stepped_client(valkey.url)
        with closing(client):
            begin(Steps(step, kill, after=after))
            try:
                Sessions(client, clock).open(ALICE)
            except Killed:
                killed = True
            else:
                killed = False
        listed = {record_key(digest) for digest in redis_client.hvals(list_key(ALICE))}
        for name in redis_client.scan_iter("{w:*"):
            assert name.decode() in listed or redis_client.ttl(name) <= UNLISTED_SECONDS
        if not killed:
            break
    assert step > 4
