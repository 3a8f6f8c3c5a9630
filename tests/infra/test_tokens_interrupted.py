"""Tokens while processes are killed, and while others do something else at the same moment."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from argon2 import PasswordHasher
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.accounts import Accounts
from infra.people.tokens import UNLISTED_MS, Tokens
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from tests.fakes.tokens import check
from tests.helpers.steps import Killed, Steps, kill, stepped_client

ALICE = bytes([0xA1]) * 8
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def tokens(redis_client: Redis) -> Tokens:
    """The tokens of a server on which Alice has an account."""
    redis_client.set(keys.account(ALICE), "a record")
    return Tokens(redis_client)


def kills(*, after: bool) -> Iterator[Steps]:
    """All the steps at which a process can be killed; the caller breaks off when none happens."""
    return (Steps(step, kill, after=after) for step in itertools.count(1))


def stepped(valkey: EmbeddedServer, steps: Steps, call: Callable[[Redis], object]) -> None:
    """Call with a client that `steps` watches."""
    client, begin = stepped_client(valkey.url)
    with closing(client):
        begin(steps)
        call(client)


@pytest.mark.parametrize("after", [False, True])
def test_issuing_killed_anywhere_leaves_nothing_that_lasts_and_is_not_listed(
    tokens, redis_client, valkey, after
):
    killed = 0
    tokens.issue(ALICE, "phone", ["play"])  # the script is known: the same steps each time
    for steps in kills(after=after):
        redis_client.delete(*redis_client.keys("{t:*"), keys.tokens(ALICE))
        try:
            stepped(valkey, steps, lambda client: Tokens(client).issue(ALICE, "phone", ["play"]))
        except Killed:
            killed += 1
            listed = redis_client.hvals(keys.tokens(ALICE))
            for name in redis_client.keys("{t:*"):
                assert 0 < redis_client.pttl(name) <= UNLISTED_MS or name.decode() in map(
                    keys.token, listed
                )
            tokens.forget(ALICE)
            assert all(redis_client.pttl(name) > 0 for name in redis_client.keys("{t:*"))
        else:
            break
    assert killed == 4  # time, record, list, for good


@pytest.mark.parametrize("after", [False, True])
def test_revoking_killed_anywhere_leaves_a_good_token_or_none(tokens, redis_client, valkey, after):
    outcomes = []
    for steps in kills(after=after):
        issued = tokens.issue(ALICE, "phone", ["play"])
        try:
            stepped(valkey, steps, lambda client, id_=issued.id: Tokens(client).revoke(ALICE, id_))
        except Killed:
            (good,) = check(tokens, [issued.text])
            assert [token.id for token in tokens.list_of(ALICE)] == ([issued.id] if good else [])
            assert tokens.revoke(ALICE, issued.id) is bool(good)
            assert not redis_client.exists(keys.tokens(ALICE))
            outcomes.append(bool(good))
        else:
            break
    assert set(outcomes) == {True, False}
    assert redis_client.keys("{t:*") == []


@pytest.mark.parametrize("after", [False, True])
def test_a_deletion_killed_anywhere_leaves_no_token_of_an_account_that_is_gone(
    redis_client, valkey, after
):
    seen = set()
    for steps in kills(after=after):
        redis_client.flushall()
        accounts, tokens = Accounts(redis_client, CHEAP), Tokens(redis_client)
        alice = accounts.signup("alice", "mad-hatter")
        texts = [tokens.issue(alice, f"token {number}", ["play"]).text for number in range(3)]
        try:
            stepped(valkey, steps, delete_alice)
        except Killed:
            whole = bool(redis_client.exists(keys.account(alice)))
            good = [bool(token) for token in check(tokens, texts)]
            assert whole or not any(good)
            seen.add((whole, all(good)))
            try:
                delete_alice(redis_client)
            except Refusal as refusal:
                assert refusal.code is Code.UNKNOWN_USER  # noqa: PT017 - or it was finished
            assert left(redis_client) == []
        else:
            break
    assert seen == {(True, True), (True, False), (False, False)}
    assert left(redis_client) == []


def left(client: Redis) -> list[bytes]:
    """What is stored beside attempts at passwords, which a kill may leave for a while."""
    return [name for name in client.scan_iter() if not name.startswith(b"logins:")]


def delete_alice(client: Redis) -> None:
    Accounts(client, CHEAP).delete("alice", "mad-hatter", Tokens(client).forget)


@pytest.mark.parametrize("after", [False, True])
def test_an_account_deleted_while_a_token_is_issued_leaves_nothing_behind(
    redis_client, valkey, after
):
    answers = []
    for step in itertools.count(1):
        redis_client.flushall()
        alice = Accounts(redis_client, CHEAP).signup("alice", "mad-hatter")
        steps = Steps(step, lambda: delete_alice(redis_client), after=after)
        try:
            stepped(
                valkey, steps, lambda client, a=alice: Tokens(client).issue(a, "phone", ["play"])
            )
        except Refusal as refusal:
            answers.append(refusal.code)
        if not steps.happened:
            break
        assert redis_client.keys() == []
    assert set(answers) == {Code.UNKNOWN_USER, Code.BUSY}


@pytest.mark.parametrize("after", [False, True])
def test_a_token_revoked_while_its_use_is_written_does_not_come_back(
    tokens, redis_client, valkey, after
):
    for step in itertools.count(1):
        issued = tokens.issue(ALICE, "phone", ["play"])
        steps = Steps(step, lambda id_=issued.id: tokens.revoke(ALICE, id_), after=after)
        stepped(valkey, steps, lambda client, text=issued.text: check(Tokens(client), [text]))
        if not steps.happened:
            break
        assert check(tokens, [issued.text]) == [None]
        assert redis_client.keys("{t:*") == []
    assert step == 4  # records, accounts, use
