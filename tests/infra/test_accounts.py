"""Accounts of people and robots: their records, lists, and how they end."""

from collections.abc import Callable
from contextlib import suppress

import msgspec
import pytest
from msgspec.structs import replace
from redis import Redis

from domain.errors import Code, Refusal
from domain.game.engine import LEVELS, RobotLevel
from domain.match.state import ROBOT_ACCOUNTS
from infra.mail.addresses import recipient_of
from infra.people import accounts as of_accounts
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.accounts import Accounts, MailAddress, create_robot_accounts
from infra.people.accounts.accounts import UNCLAIMED_SECONDS
from infra.redis import keys
from tests.fakes.app import CHEAP
from tests.helpers.examples import refused
from tests.helpers.interrupted import interrupted

FOR_GOOD = -1
"""What Redis calls the life of a key that does not expire."""


class Letters:
    """A store beside the accounts, with something personal under each id."""

    def __init__(self, *accounts: bytes) -> None:
        self.held = dict.fromkeys(accounts, "a letter")

    def forget(self, account: bytes) -> None:
        self.held.pop(account, None)


def addresses_of(accounts, account) -> list[str]:
    return [one.address for one in accounts.record_of(account).addresses]


def deleting(letters: Letters | None = None) -> Callable[[Redis], object]:
    """Return a call that deletes Alice's account, for any client."""
    forget = (letters or Letters()).forget
    return lambda client: Accounts(client, CHEAP).delete("alice", "mad-hatter", forget)


def sign_up(accounts: Accounts, password: str) -> bytes | Code:
    try:
        return accounts.signup("alice", password)
    except Refusal as refusal:
        return refusal.code


def test_a_record_from_before_the_new_fields_is_read_and_changed(accounts, redis_client):
    alice = accounts.signup("alice", "mad-hatter")
    key = keys.account(alice)
    stored = msgspec.msgpack.decode(redis_client.get(key))
    old = {"name": "alice", "password": stored["password"], "created": 5, "language": "de"}
    redis_client.set(key, msgspec.msgpack.encode(old))
    profile = of_accounts.Profile(name="alice", created=5, language="de")
    assert accounts.record_of(alice) == profile
    accounts.change_of(alice, lambda record: replace(record, signed_off=True))
    assert accounts.record_of(alice) == replace(profile, signed_off=True)
    assert accounts.verify("alice", "mad-hatter") == alice
    # what others may see, and what is shown of a record, has nothing of the hash
    assert not hasattr(profile, "password")
    record = of_accounts.Account(name="alice", password="$argon2id$secret", created=5)
    for text in (repr(record), str(record), f"{record}", repr([record])):
        assert "alice" in text
        assert "secret" not in text


def test_a_change_is_stored_whole_or_not_at_all(accounts, redis_client):
    alice = accounts.signup("alice", "mad-hatter")
    before = redis_client.get(keys.account(alice))
    change = {"notify": "daily", "displays": (("pow2", "small"),), "vacations": ((1, 2),)}

    def refuse(_record):
        raise Refusal(Code.BAD_OPTION, "no")

    def changed(record):
        return replace(record, **change)

    def overtaken(record):
        accounts.change_of(alice, lambda record: replace(record, language="de"))
        return replace(record, notify="never")

    refused(Code.BAD_OPTION, accounts.change, "alice", "mad-hatter", refuse)
    refused(Code.WRONG_PASSWORD, accounts.change, "alice", "looking-glass", changed)
    assert redis_client.get(keys.account(alice)) == before
    assert accounts.change("ALICE", "mad-hatter", changed) == alice
    profile = accounts.record_of(alice)
    assert {name: getattr(profile, name) for name in change} == change
    assert "try again" in refused(Code.BUSY, accounts.change, "alice", "mad-hatter", overtaken)
    assert accounts.record_of(alice) == replace(profile, language="de")


def test_addresses_are_added_after_those_there_are_or_take_their_place(accounts):
    alice = accounts.signup("alice", "mad-hatter", ["a@example.org"])
    for _ in range(2):
        accounts.add_addresses_of(alice, ["b@example.org", "a@EXAMPLE.org"])
        assert addresses_of(accounts, alice) == ["a@example.org", "b@example.org"]
    accounts.add_addresses_of(alice, ["c@example.org", "d@example.org"])
    more = ["e@example.org", "f@example.org"]
    assert "at most 5" in refused(Code.BAD_ADDRESS, accounts.add_addresses_of, alice, more)
    assert len(addresses_of(accounts, alice)) == 4
    accounts.add_addresses_of(alice, more[:1])
    assert len(addresses_of(accounts, alice)) == 5
    for addresses in (["b@example.org"], []):
        accounts.change_addresses_of(alice, addresses)
        assert addresses_of(accounts, alice) == addresses
    # one that was verified stays so
    verified = (MailAddress("a@example.org", verified=True),)
    accounts.change("alice", "mad-hatter", lambda a: replace(a, addresses=verified))
    accounts.add_addresses_of(alice, ["b@example.org", "a@example.org"])
    assert accounts.record_of(alice).addresses == (*verified, MailAddress("b@example.org"))
    accounts.change_addresses_of(alice, ["c@example.org", "a@Example.org"])
    known = (MailAddress("c@example.org"), MailAddress("a@Example.org", verified=True))
    assert accounts.record_of(alice).addresses == known


def test_users_are_listed_in_alphabetical_order_page_by_page(accounts, redis_client):
    for name in ("dora", "Bob", "alice", "bob2", "al", "carol-x"):
        accounts.signup(name, "mad-hatter")
    redis_client.zadd(keys.USERS, {"bo": 0, "carol": 0})
    redis_client.set(keys.user("carol"), bytes(8))
    pages = [accounts.names(start, 3) for start in (0, 3, 6)]
    assert pages == [["al", "alice", "bob"], ["bob2", "carol-x", "dora"], []]
    assert accounts.names(0, 0) == accounts.names(-1, 3) == []
    assert redis_client.zcard(keys.USERS) == 6, "names that lead nowhere are taken from the list"
    redis_client.delete(keys.USERS)
    assert accounts.verify("ALICE", "mad-hatter")
    assert accounts.names(0, 10) == ["alice"]


def test_a_deleted_account_leaves_nothing_behind_and_is_nobody(accounts, redis_client):
    bob = accounts.signup("bob", "yes-we-can")
    kept = {key: redis_client.dump(key) for key in redis_client.scan_iter()}
    alice = accounts.signup("alice", "mad-hatter", ["alice@example.org"])
    letters = Letters(alice, bob)
    refused(Code.WRONG_PASSWORD, accounts.delete, "alice", "looking-glass", letters.forget)
    assert letters.held == {alice: "a letter", bob: "a letter"}
    assert accounts.verify("alice", "mad-hatter") == alice
    assert accounts.delete("Alice", "mad-hatter", letters.forget) == alice
    assert letters.held == {bob: "a letter"}
    # the count of codes for a mailbox is hashed, and expires
    left = [key for key in redis_client.scan_iter() if not key.startswith(b"{mail}:codes:")]
    assert {key: redis_client.dump(key) for key in left} == kept
    refused(Code.UNKNOWN_USER, accounts.verify, "alice", "mad-hatter")
    refused(Code.UNKNOWN_USER, accounts.id_of, "alice")
    refused(Code.UNKNOWN_USER, accounts.delete, "alice", "mad-hatter", Letters().forget)
    assert (accounts.name_of([alice]), accounts.record_of(alice)) == ([None], None)
    assert accounts.language_of(alice) == ""
    new = accounts.signup("alice", "looking-glass")
    assert new != alice
    refused(Code.WRONG_PASSWORD, accounts.verify, "alice", "mad-hatter")
    assert accounts.name_of([alice, new]) == [None, "alice"]
    assert accounts.names(0, 10) == ["alice", "bob"]


def test_where_other_stores_can_not_be_erased_or_a_password_was_changed_the_account_stays(accounts):
    alice = accounts.signup("alice", "mad-hatter")

    def fail(_account):
        raise ConnectionError

    with pytest.raises(ConnectionError):
        accounts.delete("alice", "mad-hatter", fail)
    assert accounts.verify("alice", "mad-hatter") == alice

    def change(_account):
        accounts.change_password("alice", "mad-hatter", "looking-glass")

    refused(Code.BUSY, accounts.delete, "alice", "mad-hatter", change)
    assert accounts.verify("alice", "looking-glass") == alice


def test_what_comes_in_while_an_account_is_erased_is_erased_too_and_brings_nothing_back(
    accounts, redis_client
):
    alice = accounts.signup("alice", "mad-hatter")
    letters = Letters(alice)

    def erase(account):
        letters.forget(account)
        if redis_client.exists(keys.account(account)):
            letters.held[account] = "one more, from who had looked the userid up before"

    def late(record):
        accounts.delete("alice", "mad-hatter", erase)
        return record

    refused(Code.BUSY, accounts.change, "alice", "mad-hatter", late)
    assert letters.held == {}
    assert redis_client.keys() == []


def test_a_deletion_killed_anywhere_leaves_a_whole_account_or_none(accounts, redis_client, valkey):
    letters, found = Letters(), []

    def prepare() -> Callable[[Redis], object]:
        redis_client.flushall()
        found.append(accounts.signup("alice", "mad-hatter"))
        letters.held = {found[-1]: "a letter"}
        return deleting(letters)

    whole = []
    for turn, _ in enumerate(interrupted(valkey, prepare)):
        whole.append(bool(redis_client.exists(keys.account(found[-1]))))
        assert accounts.names(0, 10) == ["alice"] * whole[-1]
        # the userid stays, or is free for another
        new = sign_up(accounts, "looking-glass") if turn % 2 else Code.NAME_TAKEN
        if whole[-1]:
            assert accounts.verify("alice", "mad-hatter") == found[-1]
            deleting(letters)(redis_client)
        elif new is Code.NAME_TAKEN:
            refused(Code.UNKNOWN_USER, accounts.verify, "alice", "mad-hatter")
            refused(Code.UNKNOWN_USER, accounts.id_of, "alice")
            with suppress(Refusal):  # or it was finished
                deleting(letters)(redis_client)
        else:
            assert accounts.verify("alice", "looking-glass") == new != found[-1]
            assert accounts.names(0, 10) == ["alice"]
            accounts.delete("alice", "looking-glass", letters.forget)
        assert (new is Code.NAME_TAKEN) or not whole[-1]
        assert letters.held == {}
        assert [key for key in redis_client.scan_iter() if not key.startswith(b"logins:")] == []
    assert min(whole.count(True), whole.count(False)) > 4
    # and one that is not killed leaves nothing
    assert redis_client.keys() == []


def test_a_deletion_leaves_alone_who_took_the_userid_meanwhile(accounts, redis_client, valkey):
    seen = []

    def prepare() -> Callable[[Redis], object]:
        redis_client.flushall()
        accounts.signup("alice", "mad-hatter")
        return deleting()

    def take() -> None:
        seen.append(sign_up(accounts, "looking-glass"))

    for _ in interrupted(valkey, prepare, take, after=(False,)):
        if seen[-1] is Code.NAME_TAKEN:
            assert redis_client.keys("{*") == []
        else:
            assert accounts.verify("alice", "looking-glass") == seen[-1]
            assert accounts.names(0, 10) == ["alice"]
    assert seen.count(Code.NAME_TAKEN) > 4
    assert len(seen) - seen.count(Code.NAME_TAKEN) > 4


def test_a_signup_killed_anywhere_leaves_an_account_or_a_free_userid(
    accounts, redis_client, valkey
):
    def prepare() -> Callable[[Redis], object]:
        redis_client.flushall()
        return lambda client: Accounts(client, CHEAP).signup("alice", "mad-hatter")

    found = []
    for _ in interrupted(valkey, prepare):
        found.append(accounts.id_of("alice") if redis_client.exists("{u:alice}") else None)
        alice = found[-1] or accounts.signup("alice", "mad-hatter")
        assert accounts.verify("alice", "mad-hatter") == alice
        assert accounts.names(0, 10) == ["alice"]
        assert redis_client.ttl(keys.account(alice)) == FOR_GOOD
        strays = set(redis_client.scan_iter("{a:*")) - {keys.account(alice).encode()}
        assert all(0 < redis_client.ttl(key) <= UNCLAIMED_SECONDS for key in strays)
    assert None in found
    assert any(found)


def test_of_two_who_want_a_userid_that_was_left_one_gets_it(accounts, redis_client, valkey):
    outcomes: list[bytes | Code] = []

    def prepare() -> Callable[[Redis], object]:
        redis_client.flushall()
        redis_client.set(keys.user("alice"), bytes(8))  # as a deletion cut short leaves it
        outcomes.clear()
        return lambda client: outcomes.append(sign_up(Accounts(client, CHEAP), "mad-hatter"))

    def rival() -> None:
        outcomes.append(sign_up(accounts, "looking-glass"))

    won = set()
    for _ in interrupted(valkey, prepare, rival, after=(False,)):
        (winner,) = [one for one in outcomes if one is not Code.NAME_TAKEN]
        won.add(outcomes.index(winner))
        password = "mad-hatter" if outcomes.index(winner) else "looking-glass"
        assert accounts.verify("alice", password) == winner
        assert accounts.names(0, 10) == ["alice"]
        assert redis_client.keys("{a:*") == [keys.account(winner).encode()]
    assert won == {0, 1}


NO_MACS = AccountMacs()


def test_each_robot_has_a_record_and_a_userid_and_making_them_again_changes_nothing(
    accounts, redis_client, tmp_path
):
    make_mac_key(tmp_path)
    macs = AccountMacs(tmp_path)
    made = create_robot_accounts(redis_client, macs)
    for account in ROBOT_ACCOUNTS.values():
        record = redis_client.get(keys.account(account))
        assert redis_client.get(keys.account_mac(account)) == macs.mac(account, record)
    refused(Code.WRONG_PASSWORD, accounts.verify, "robot-easy", "robot-easy")
    redis_client.delete(*redis_client.scan_iter("logins:*"))
    assert made == {level: f"robot-{level}" for level in LEVELS}
    for level in LEVELS:
        account = accounts.id_of(f"Robot-{level}")
        assert account == ROBOT_ACCOUNTS[level]
        profile = accounts.record_of(account)
        assert (profile.name, profile.robot) == (f"robot-{level}", level)
        assert recipient_of(profile) is None  # no mail is written for it
    assert accounts.names(0, 10) == ["robot-easy", "robot-hard", "robot-medium"]
    assert redis_client.ttl(keys.account(ROBOT_ACCOUNTS[RobotLevel.EASY])) == FOR_GOOD
    accounts.change_of(ROBOT_ACCOUNTS[RobotLevel.EASY], lambda one: replace(one, language="de"))
    before = {key: redis_client.dump(key) for key in redis_client.scan_iter()}
    create_robot_accounts(redis_client, macs)
    assert {key: redis_client.dump(key) for key in redis_client.scan_iter()} == before


def test_a_person_keeps_a_userid_and_the_robot_has_a_number(accounts, redis_client):
    person = accounts.signup("robot-easy", "mad-hatter")
    accounts.signup("robot-easy-2", "mad-hatter")
    assert create_robot_accounts(redis_client, NO_MACS)[RobotLevel.EASY] == "robot-easy-3"
    assert accounts.verify("robot-easy", "mad-hatter") == person
    assert accounts.record_of(person).robot is None
    assert accounts.name_of([ROBOT_ACCOUNTS[RobotLevel.EASY]]) == ["robot-easy-3"]
    assert of_accounts.read_robot_userids(redis_client)[RobotLevel.EASY] == "robot-easy-3"


def test_what_a_kill_left_undone_is_done_at_the_next_start_unless_a_person_took_the_name(
    accounts, redis_client
):
    create_robot_accounts(redis_client, NO_MACS)
    redis_client.delete(keys.user("robot-hard"))
    redis_client.zrem(keys.USERS, "robot-hard")
    create_robot_accounts(redis_client, NO_MACS)
    assert accounts.id_of("robot-hard") == ROBOT_ACCOUNTS[RobotLevel.HARD]
    assert "robot-hard" in accounts.names(0, 10)
    redis_client.delete(keys.user("robot-hard"))
    person = accounts.signup("robot-hard", "mad-hatter")
    assert create_robot_accounts(redis_client, NO_MACS)[RobotLevel.HARD] == "robot-hard-2"
    assert accounts.id_of("robot-hard") == person
