import itertools
from contextlib import closing

import pytest
from argon2 import PasswordHasher
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.accounts import Accounts
from infra.people.accounts.accounts import UNCLAIMED_SECONDS
from infra.redis import keys
from infra.valkey.server import EmbeddedServer
from tests.helpers.steps import Killed, Steps, kill, stepped_client

FOR_GOOD = -1
"""What Redis calls the life of a key that does not expire."""

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def accounts(redis_client) -> Accounts:
    return Accounts(redis_client, CHEAP)


class Letters:
    """A store beside the accounts, with something personal under each id."""

    def __init__(self, *accounts: bytes) -> None:
        self.held = dict.fromkeys(accounts, "a letter")

    def forget(self, account: bytes) -> None:
        self.held.pop(account, None)


def refused(code, call, *args) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args)
    assert caught.value.code is code
    return caught.value.sentence


def interrupted(valkey: EmbeddedServer, steps: Steps, call) -> None:
    """Call with accounts on a client that `steps` watches."""
    client, begin = stepped_client(valkey.url)
    with closing(client):
        accounts = Accounts(client, CHEAP)
        begin(steps)
        call(accounts)


def kills(*, after: bool):
    """All the steps at which a process can be killed; the caller breaks off when none happens."""
    return (Steps(step, kill, after=after) for step in itertools.count(1))


def test_a_deleted_account_leaves_nothing_behind(accounts, redis_client):
    bob = accounts.signup("bob", "yes-we-can")
    kept = {key: redis_client.dump(key) for key in redis_client.scan_iter()}
    alice = accounts.signup("alice", "mad-hatter", ["alice@example.org"])
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "looking-glass")
    letters = Letters(alice, bob)
    assert accounts.delete("Alice", "mad-hatter", letters.forget) == alice
    assert letters.held == {bob: "a letter"}
    # the count of codes for a mailbox is hashed, and expires
    left = [key for key in redis_client.scan_iter() if not key.startswith(b"{mail}:codes:")]
    assert {key: redis_client.dump(key) for key in left} == kept


def test_a_deleted_account_is_nobody(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    assert accounts.verify("alice", "mad-hatter") == alice
    accounts.delete("alice", "mad-hatter", Letters().forget)
    refused(Code.UNKNOWN_USER, accounts.verify, "alice", "mad-hatter")
    refused(Code.UNKNOWN_USER, accounts.id_of, "alice")
    refused(Code.UNKNOWN_USER, accounts.delete, "alice", "mad-hatter", Letters().forget)
    assert accounts.name_of([alice]) == [None]
    assert accounts.record_of(alice) is None
    assert accounts.language_of(alice) == ""
    assert accounts.names(0, 10) == []


def test_the_userid_of_a_deleted_account_is_free_for_another(accounts):
    old = accounts.signup("alice", "mad-hatter")
    accounts.delete("alice", "mad-hatter", Letters().forget)
    new = accounts.signup("alice", "looking-glass")
    assert new != old
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter")
    assert accounts.name_of([old, new]) == [None, "alice"]
    assert accounts.names(0, 10) == ["alice"]


def test_nothing_is_erased_without_the_password(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    letters = Letters(alice)
    refused(Code.WRONG_PASSWORD, accounts.delete, "alice", "looking-glass", letters.forget)
    assert letters.held == {alice: "a letter"}
    assert accounts.verify("alice", "mad-hatter") == alice


def test_where_other_stores_can_not_be_erased_the_account_stays(accounts):
    alice = accounts.signup("alice", "mad-hatter")

    def fail(_account):
        raise ConnectionError

    with pytest.raises(ConnectionError):
        accounts.delete("alice", "mad-hatter", fail)
    assert accounts.verify("alice", "mad-hatter") == alice


def test_what_comes_in_while_an_account_is_erased_is_erased_too(accounts, redis_client):
    alice = accounts.signup("alice", "mad-hatter")
    letters = Letters(alice)

    def erase(account):
        letters.forget(account)
        if redis_client.exists(keys.account(account)):
            letters.held[account] = "one more, from who had looked the userid up before"

    accounts.delete("alice", "mad-hatter", erase)
    assert letters.held == {}


def test_a_password_that_was_changed_meanwhile_protects_the_account(accounts):
    alice = accounts.signup("alice", "mad-hatter")

    def change(_account):
        accounts.change_password("alice", "mad-hatter", "looking-glass")

    refused(Code.BUSY, accounts.delete, "alice", "mad-hatter", change)
    assert accounts.verify("alice", "looking-glass") == alice


def test_a_change_that_comes_late_does_not_bring_a_record_back(accounts, redis_client):
    accounts.signup("alice", "mad-hatter")

    def late(record):
        accounts.delete("alice", "mad-hatter", Letters().forget)
        return record

    refused(Code.BUSY, accounts.change, "alice", "mad-hatter", late)
    assert redis_client.keys() == []


@pytest.mark.parametrize("after", [False, True])
def test_a_deletion_killed_anywhere_leaves_a_whole_account_or_none(redis_client, valkey, after):
    killed = 0
    for steps in kills(after=after):
        redis_client.flushall()
        accounts = Accounts(redis_client, CHEAP)
        alice = accounts.signup("alice", "mad-hatter")
        letters = Letters(alice)
        try:
            interrupted(
                valkey, steps, lambda a, ls=letters: a.delete("alice", "mad-hatter", ls.forget)
            )
        except Killed:
            killed += 1
            check_whole_or_gone(accounts, redis_client, alice)
            check_that_repeating_finishes(accounts, redis_client, letters)
        else:
            break
    assert killed > 8
    assert redis_client.keys() == []


def check_whole_or_gone(accounts: Accounts, client: Redis, alice: bytes) -> None:
    if client.exists(keys.account(alice)):
        assert accounts.verify("alice", "mad-hatter") == alice
        assert accounts.names(0, 10) == ["alice"]
    else:
        refused(Code.UNKNOWN_USER, accounts.verify, "alice", "mad-hatter")
        refused(Code.UNKNOWN_USER, accounts.id_of, "alice")
        assert accounts.names(0, 10) == []


def check_that_repeating_finishes(accounts: Accounts, client: Redis, letters: Letters) -> None:
    try:
        accounts.delete("alice", "mad-hatter", letters.forget)
    except Refusal as refusal:
        assert refusal.code is Code.UNKNOWN_USER  # noqa: PT017 - it may also have been finished
    assert letters.held == {}
    assert [key for key in client.scan_iter() if not key.startswith(b"logins:")] == []


@pytest.mark.parametrize("after", [False, True])
def test_the_userid_of_a_deletion_cut_short_is_free_for_another(redis_client, valkey, after):
    taken = 0
    for steps in kills(after=after):
        redis_client.flushall()
        accounts = Accounts(redis_client, CHEAP)
        old = accounts.signup("alice", "mad-hatter")
        try:
            interrupted(valkey, steps, lambda a: a.delete("alice", "mad-hatter", Letters().forget))
        except Killed:
            if redis_client.exists(keys.account(old)):
                refused(Code.NAME_TAKEN, accounts.signup, "alice", "looking-glass")
                taken += 1
                continue
            new = accounts.signup("alice", "looking-glass")
            assert accounts.verify("alice", "looking-glass") == new != old
            assert accounts.names(0, 10) == ["alice"]
        else:
            break
    assert taken > 2


def test_a_deletion_leaves_alone_who_took_the_userid_meanwhile(redis_client, valkey):
    accounts = Accounts(redis_client, CHEAP)
    seen = []
    for step in itertools.count(1):
        redis_client.flushall()
        accounts.signup("alice", "mad-hatter")
        steps = Steps(step, lambda: seen.append(sign_up(accounts, "looking-glass")))
        interrupted(valkey, steps, lambda a: a.delete("alice", "mad-hatter", Letters().forget))
        if not steps.happened:
            break
        if seen[-1] is Code.NAME_TAKEN:
            assert redis_client.keys("{*") == []
        else:
            assert accounts.verify("alice", "looking-glass") == seen[-1]
            assert accounts.names(0, 10) == ["alice"]
    assert seen.count(Code.NAME_TAKEN) > 4
    assert len(seen) - seen.count(Code.NAME_TAKEN) > 4


@pytest.mark.parametrize("after", [False, True])
def test_a_signup_killed_anywhere_leaves_an_account_or_a_free_userid(redis_client, valkey, after):
    found = []
    for steps in kills(after=after):
        redis_client.flushall()
        accounts = Accounts(redis_client, CHEAP)
        try:
            interrupted(valkey, steps, lambda a: a.signup("alice", "mad-hatter"))
        except Killed:
            found.append(accounts.id_of("alice") if redis_client.exists("{u:alice}") else None)
            alice = found[-1] or accounts.signup("alice", "mad-hatter")
            assert accounts.verify("alice", "mad-hatter") == alice
            assert accounts.names(0, 10) == ["alice"]
            assert redis_client.ttl(keys.account(alice)) == FOR_GOOD
            check_that_strays_expire(redis_client, alice)
        else:
            break
    assert None in found
    assert any(found)


def check_that_strays_expire(client: Redis, account: bytes) -> None:
    strays = set(client.scan_iter("{a:*")) - {keys.account(account).encode()}
    assert all(0 < client.ttl(key) <= UNCLAIMED_SECONDS for key in strays)


def test_an_account_lasts(accounts, redis_client):
    alice = accounts.signup("alice", "mad-hatter")
    for key in (keys.account(alice), keys.user("alice"), keys.USERS):
        assert redis_client.ttl(key) == FOR_GOOD


def test_of_two_who_want_a_userid_that_was_left_one_gets_it(redis_client, valkey):
    accounts = Accounts(redis_client, CHEAP)
    first, second = set(), set()
    for step in itertools.count(1):
        redis_client.flushall()
        redis_client.set(keys.user("alice"), bytes(8))  # as a deletion cut short leaves it
        outcomes = []
        steps = Steps(step, lambda: outcomes.append(sign_up(accounts, "looking-glass")))  # noqa: B023
        interrupted(valkey, steps, lambda a: outcomes.append(sign_up(a, "mad-hatter")))  # noqa: B023
        if not steps.happened:
            break
        (winner,) = [one for one in outcomes if one is not Code.NAME_TAKEN]
        password = "looking-glass" if winner is outcomes[0] else "mad-hatter"
        (first if winner is outcomes[0] else second).add(step)
        assert accounts.verify("alice", password) == winner
        assert accounts.names(0, 10) == ["alice"]
        assert redis_client.keys("{a:*") == [keys.account(winner).encode()]
    assert first
    assert second


def sign_up(accounts: Accounts, password: str) -> bytes | Code:
    try:
        return accounts.signup("alice", password)
    except Refusal as refusal:
        return refusal.code


def test_users_are_listed_in_alphabetical_order_page_by_page(accounts):
    for name in ("dora", "Bob", "alice", "bob2", "al", "carol-x"):
        accounts.signup(name, "mad-hatter")
    assert accounts.names(0, 3) == ["al", "alice", "bob"]
    assert accounts.names(3, 3) == ["bob2", "carol-x", "dora"]
    assert accounts.names(6, 3) == accounts.names(0, 0) == accounts.names(-1, 3) == []


def test_a_page_is_full_though_names_on_it_lead_nowhere(accounts, redis_client):
    for name in ("alice", "dora"):
        accounts.signup(name, "mad-hatter")
    redis_client.zadd(keys.USERS, {"bob": 0, "carol": 0})
    redis_client.set(keys.user("carol"), bytes(8))
    assert accounts.names(0, 2) == ["alice", "dora"]
    assert redis_client.zrange(keys.USERS, 0, -1) == [b"alice", b"dora"]


def test_an_account_that_is_not_listed_is_listed_at_its_login(accounts, redis_client):
    alice = accounts.signup("alice", "mad-hatter")
    redis_client.delete(keys.USERS)
    assert accounts.names(0, 10) == []
    assert accounts.verify("ALICE", "mad-hatter") == alice
    assert accounts.names(0, 10) == ["alice"]


def test_who_signs_up_while_the_list_is_tidied_is_on_it(redis_client, valkey):
    accounts = Accounts(redis_client, CHEAP)
    for step in itertools.count(1):
        redis_client.flushall()
        redis_client.zadd(keys.USERS, {"alice": 0})
        steps = Steps(step, lambda: accounts.signup("alice", "mad-hatter"))
        interrupted(valkey, steps, lambda a: a.names(0, 10))
        if not steps.happened:
            break
        assert redis_client.zrange(keys.USERS, 0, -1) == [b"alice"]
    assert step > 4
