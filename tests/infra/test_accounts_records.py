import msgspec
import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.people.accounts import Account, Accounts, MailAddress, Profile
from infra.redis import keys

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def accounts(redis_client) -> Accounts:
    return Accounts(redis_client, CHEAP)


def refused(code, call, *args) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args)
    assert caught.value.code is code
    return caught.value.sentence


def addresses_of(accounts, account) -> list[str]:
    return [one.address for one in accounts.record_of(account).addresses]


def test_a_new_account_has_what_it_was_given_and_else_the_defaults(accounts, redis_client):
    before = redis_client.time()[0] * 1000
    alice = accounts.signup("Alice", "mad-hatter", ["alice@example.org", "a@b.example"])
    profile = accounts.record_of(alice)
    assert profile == Profile(
        name="alice",
        created=profile.created,
        addresses=(MailAddress("alice@example.org"), MailAddress("a@b.example")),
    )
    assert before <= profile.created <= before + 60_000
    assert not any(one.verified for one in profile.addresses)


def test_a_signup_with_a_bad_address_makes_no_account(accounts, redis_client):
    refused(Code.BAD_ADDRESS, accounts.signup, "alice", "mad-hatter", ["alice"])
    refused(Code.BAD_ADDRESS, accounts.signup, "alice", "mad-hatter", ["a@b.example"] * 2)
    refused(Code.BAD_NAME, accounts.signup, "4ever", "mad-hatter")
    assert redis_client.keys() == []


def test_a_record_from_before_the_new_fields_is_read_and_changed(accounts, redis_client):
    alice = accounts.signup("alice", "mad-hatter")
    key = keys.account(alice)
    stored = msgspec.msgpack.decode(redis_client.get(key))
    old = {"name": "alice", "password": stored["password"], "created": 5, "language": "de"}
    redis_client.set(key, msgspec.msgpack.encode(old))
    assert accounts.record_of(alice) == Profile(name="alice", created=5, language="de")
    accounts.change_of(alice, lambda record: replace(record, signed_off=True))
    assert accounts.record_of(alice) == Profile(
        name="alice", created=5, language="de", signed_off=True
    )
    assert accounts.verify("alice", "mad-hatter") == alice


def test_what_others_may_see_has_no_password(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    profile = accounts.record_of(alice)
    assert not hasattr(profile, "password")
    assert "argon2" not in repr(profile)


def test_a_record_shows_nothing_of_its_hash():
    record = Account(name="alice", password="$argon2id$secret", created=5)
    for text in (repr(record), str(record), f"{record}", repr([record])):
        assert "alice" in text
        assert "secret" not in text


def test_a_change_is_stored_whole(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    changed = accounts.change(
        "ALICE",
        "mad-hatter",
        lambda a: replace(a, notify="daily", displays=(("pow2", "small"),), vacations=((1, 2),)),
    )
    profile = accounts.record_of(alice)
    assert changed == alice
    assert (profile.notify, profile.displays, profile.vacations) == (
        "daily",
        (("pow2", "small"),),
        ((1, 2),),
    )


def test_a_change_that_refuses_changes_nothing(accounts, redis_client):
    alice = accounts.signup("alice", "mad-hatter")
    before = redis_client.get(keys.account(alice))

    def refuse(_record):
        raise Refusal(Code.BAD_OPTION, "no")

    refused(Code.BAD_OPTION, accounts.change, "alice", "mad-hatter", refuse)
    assert redis_client.get(keys.account(alice)) == before


def test_without_the_password_nothing_is_changed(accounts, redis_client):
    alice = accounts.signup("alice", "mad-hatter", ["alice@example.org"])
    before = redis_client.get(keys.account(alice))
    change = accounts.change
    refused(Code.WRONG_PASSWORD, change, "alice", "looking-glass", lambda a: replace(a, notify=""))
    assert redis_client.get(keys.account(alice)) == before


def test_of_two_changes_at_once_the_later_is_told_to_try_again(accounts):
    alice = accounts.signup("alice", "mad-hatter")

    def overtaken(record):
        accounts.change_of(alice, lambda record: replace(record, language="de"))
        return replace(record, notify="daily")

    assert "try again" in refused(Code.BUSY, accounts.change, "alice", "mad-hatter", overtaken)
    assert accounts.record_of(alice) == Profile(
        name="alice", created=accounts.record_of(alice).created, language="de"
    )


def test_added_addresses_come_after_those_there_are(accounts):
    alice = accounts.signup("alice", "mad-hatter", ["a@example.org"])
    for _ in range(2):
        accounts.add_addresses_of(alice, ["b@example.org", "a@EXAMPLE.org"])
        assert addresses_of(accounts, alice) == ["a@example.org", "b@example.org"]


def test_an_account_has_five_addresses_at_most(accounts):
    alice = accounts.signup("alice", "mad-hatter", [f"a{n}@example.org" for n in range(4)])
    more = ["b@example.org", "c@example.org"]
    sentence = refused(Code.BAD_ADDRESS, accounts.add_addresses_of, alice, more)
    assert "at most 5" in sentence
    assert len(addresses_of(accounts, alice)) == 4
    accounts.add_addresses_of(alice, more[:1])
    assert len(addresses_of(accounts, alice)) == 5


def test_changed_addresses_replace_those_there_are(accounts):
    alice = accounts.signup("alice", "mad-hatter", ["a@example.org"])
    accounts.change_addresses_of(alice, ["b@example.org"])
    assert addresses_of(accounts, alice) == ["b@example.org"]
    accounts.change_addresses_of(alice, [])
    assert addresses_of(accounts, alice) == []


def test_an_address_that_was_verified_stays_so(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    verified = (MailAddress("a@example.org", verified=True),)
    accounts.change("alice", "mad-hatter", lambda a: replace(a, addresses=verified))
    accounts.add_addresses_of(alice, ["b@example.org", "a@example.org"])
    assert accounts.record_of(alice).addresses == (*verified, MailAddress("b@example.org"))
    accounts.change_addresses_of(alice, ["c@example.org", "a@Example.org"])
    assert accounts.record_of(alice).addresses == (
        MailAddress("c@example.org"),
        MailAddress("a@Example.org", verified=True),
    )


@pytest.mark.parametrize("method", ["add_addresses_of", "change_addresses_of"])
def test_who_signs_off_gets_mail_again_with_an_address(accounts, method):
    alice = accounts.signup("alice", "mad-hatter", ["a@example.org"])
    for _ in range(2):
        accounts.change_of(alice, lambda record: replace(record, signed_off=True))
        assert accounts.record_of(alice).signed_off
    assert addresses_of(accounts, alice) == ["a@example.org"]
    getattr(accounts, method)(alice, ["a@example.org"])
    assert not accounts.record_of(alice).signed_off


def test_the_operator_makes_an_arbiter_and_unmakes_one(accounts):
    alice = accounts.signup("alice", "mad-hatter")
    assert not accounts.record_of(alice).arbiter
    assert accounts.set_arbiter("Alice", True) == alice
    assert accounts.record_of(alice).arbiter
    accounts.set_arbiter("alice", False)
    assert not accounts.record_of(alice).arbiter
    assert accounts.verify("alice", "mad-hatter") == alice
    refused(Code.UNKNOWN_USER, accounts.set_arbiter, "nobody", True)
