"""Accounts: names, passwords, and what changes them at once."""

import threading
from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from infra.people.accounts import Accounts, check_password
from infra.redis import keys
from tests.fakes.memory_store import memory_client

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
DEARER = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)


@pytest.fixture(params=["fake", "valkey"])
def client(request) -> Iterator[Redis]:
    if request.param == "valkey":
        yield request.getfixturevalue("redis_client")
    else:
        with memory_client() as fake:
            yield fake


@pytest.fixture
def accounts(client) -> Accounts:
    return Accounts(client, CHEAP)


def refused(code, call, *args) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args)
    assert caught.value.code is code
    return caught.value.sentence


def test_an_account_is_found_by_name_and_by_id(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    assert len(alice) == 8
    assert accounts.id_of("alice") == alice
    assert accounts.verify("alice", "mad-hatter") == alice
    assert accounts.name_of([alice, bytes(8), alice]) == ["alice", None, "alice"]


@pytest.mark.parametrize("name", [
    "", "a", "1alice", "-al", "al ice", "a" * 21, "al!ce", "ålice", "\N{KELVIN SIGN}evin", "al\n",
])  # fmt: skip
def test_what_can_not_be_a_name_is_refused(accounts, name):
    assert "isn't a userid" in refused(Code.BAD_NAME, accounts.signup, name, "mad-hatter")
    refused(Code.UNKNOWN_USER, accounts.id_of, name)
    refused(Code.UNKNOWN_USER, accounts.verify, name, "mad-hatter")


@pytest.mark.parametrize(
    "password",
    ["", "nine-long", "x" * 129, " at its end ", "a\ttab in it", "nul\0byte-here", "half\udc80pair-here",
     "alice", "alice-alice", "12alice345", "Password123", "wonderland", "qwertyuiop", "correct horse\xa0",
     "Matchpost1", "matchpost-2026", "Powerdrain12", "pow2-pow2-alice", "my-password"],
)  # fmt: skip
def test_what_can_not_be_a_password_is_refused(accounts, password):
    sentence = refused(Code.BAD_PASSWORD, accounts.signup, "alice", password)
    assert not password or password not in sentence
    refused(Code.UNKNOWN_USER, accounts.id_of, "alice")


@pytest.mark.parametrize("password", [
    "correct horse battery", "x" * 128, "påßwörd-10", "alice-i-am", "a powerdrain a day",
])  # fmt: skip
def test_passwords_of_good_form_are_taken(password):
    check_password(password, "alicia")


def test_an_unknown_user_costs_a_hash_too(client):
    checked = []

    class Counting(PasswordHasher):
        def verify(self, hash, password):  # noqa: A002 - the name is argon2's
            checked.append(hash.split("$")[3])
            return super().verify(hash, password)

    accounts = Accounts(client, Counting(time_cost=1, memory_cost=8, parallelism=1))
    accounts.signup("alice", "mad-hatter")
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "looking-glass")
    refused(Code.UNKNOWN_USER, accounts.verify, "nobody", "looking-glass")
    assert checked == ["m=8,t=1,p=1", "m=8,t=1,p=1"]


def test_a_changed_password_replaces_the_old(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    refused(Code.WRONG_PASSWORD, accounts.change_password, "alice", "guessed", "looking-glass")
    refused(Code.BAD_PASSWORD, accounts.change_password, "alice", "mad-hatter", "short")
    refused(Code.UNKNOWN_USER, accounts.change_password, "nobody", "mad-hatter", "looking-glass")
    assert accounts.change_password("alice", "mad-hatter", "looking-glass") == alice
    assert accounts.verify("alice", "looking-glass") == alice
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter")


def test_a_hash_of_old_parameters_is_renewed_when_seen(accounts, client):
    alice = accounts.signup("alice", "mad-hatter")
    later = Accounts(client, DEARER)
    assert later.verify("alice", "mad-hatter") == alice
    assert b"m=16,t=2" in client.get(keys.account(alice))
    assert later.change_password("alice", "mad-hatter", "looking-glass") == alice


def test_a_renewal_does_not_undo_a_change_made_meanwhile(accounts, client):
    alice = accounts.signup("alice", "mad-hatter")

    class Interrupted(PasswordHasher):
        def check_needs_rehash(self, hash):  # noqa: A002 - the name is argon2's
            accounts.change_password("alice", "mad-hatter", "looking-glass")
            return super().check_needs_rehash(hash)

    later = Accounts(client, Interrupted(time_cost=2, memory_cost=16, parallelism=1))
    assert later.verify("alice", "mad-hatter") == alice
    assert accounts.verify("alice", "looking-glass") == alice


def test_of_many_signups_at_once_one_gets_the_name(redis_client):
    accounts = Accounts(redis_client, CHEAP)
    ready = threading.Barrier(8)
    won, lost = [], []

    def signup() -> None:
        ready.wait()
        try:
            won.append(accounts.signup("alice", "mad-hatter"))
        except Refusal as refusal:
            lost.append(refusal.code)

    threads = [threading.Thread(target=signup) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == [Code.NAME_TAKEN] * 7
    assert accounts.id_of("alice") == won[0]
    assert sorted(redis_client.keys()) == sorted(
        [keys.user("alice").encode(), keys.account(won[0]).encode(), keys.USERS.encode()]
    )


def test_an_older_account_keeps_its_short_password_until_it_is_changed(client):
    accounts = Accounts(client, CHEAP)
    alice = accounts.signup("alice", "mad-hatter")
    accounts.change_of(alice, lambda one: replace(one, password=CHEAP.hash("sixsix")))
    assert accounts.verify("alice", "sixsix") == alice
    refused(Code.BAD_PASSWORD, accounts.change_password, "alice", "sixsix", "sevens7")
    accounts.change_password("alice", "sixsix", "mad-hatter")
