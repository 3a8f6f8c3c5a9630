"""The accounts of robots."""

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.game.engine import LEVELS, RobotLevel
from domain.match.state import ROBOT_ACCOUNTS
from infra.mail.addresses import recipient_of
from infra.people.account_macs import AccountMacs, make_mac_key
from infra.people.accounts import Accounts, create_robot_accounts, read_robot_userids
from infra.redis import keys

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
NO_MACS = AccountMacs()


@pytest.fixture
def accounts(redis_client) -> Accounts:
    return Accounts(redis_client, CHEAP)


def test_each_level_has_a_record_and_a_userid(accounts, redis_client):
    made = create_robot_accounts(redis_client, NO_MACS)
    assert made == {level: f"robot-{level}" for level in LEVELS}
    for level in LEVELS:
        account = accounts.id_of(f"Robot-{level}")
        assert account == ROBOT_ACCOUNTS[level]
        profile = accounts.record_of(account)
        assert (profile.name, profile.robot) == (f"robot-{level}", level)
        assert recipient_of(profile) is None  # no mail is written for it
    assert accounts.names(0, 10) == ["robot-easy", "robot-hard", "robot-medium"]
    assert redis_client.ttl(keys.account(ROBOT_ACCOUNTS[RobotLevel.EASY])) == -1


def test_making_them_again_changes_nothing(redis_client):
    create_robot_accounts(redis_client, NO_MACS)
    before = {key: redis_client.dump(key) for key in redis_client.scan_iter()}
    create_robot_accounts(redis_client, NO_MACS)
    assert {key: redis_client.dump(key) for key in redis_client.scan_iter()} == before


def test_no_password_opens_a_robots_account(accounts, redis_client):
    create_robot_accounts(redis_client, NO_MACS)
    for password in ("robot-easy", "", "password"):
        with pytest.raises(Refusal) as caught:
            accounts.verify("robot-easy", password)
        assert caught.value.code is Code.WRONG_PASSWORD


def test_a_person_keeps_a_userid_and_the_robot_has_a_number(accounts, redis_client):
    person = accounts.signup("robot-easy", "mad-hatter")
    accounts.signup("robot-easy-2", "mad-hatter")
    assert create_robot_accounts(redis_client, NO_MACS)[RobotLevel.EASY] == "robot-easy-3"
    assert accounts.verify("robot-easy", "mad-hatter") == person
    assert accounts.record_of(person).robot is None
    assert accounts.name_of([ROBOT_ACCOUNTS[RobotLevel.EASY]]) == ["robot-easy-3"]
    assert read_robot_userids(redis_client)[RobotLevel.EASY] == "robot-easy-3"


def test_what_a_kill_left_undone_is_done_at_the_next_start(accounts, redis_client):
    create_robot_accounts(redis_client, NO_MACS)
    redis_client.delete(keys.user("robot-hard"))
    redis_client.zrem(keys.USERS, "robot-hard")
    create_robot_accounts(redis_client, NO_MACS)
    assert accounts.id_of("robot-hard") == ROBOT_ACCOUNTS[RobotLevel.HARD]
    assert "robot-hard" in accounts.names(0, 10)


def test_a_name_that_a_person_took_meanwhile_stays_that_persons(accounts, redis_client):
    create_robot_accounts(redis_client, NO_MACS)
    redis_client.delete(keys.user("robot-hard"))  # as after a kill between record and name
    person = accounts.signup("robot-hard", "mad-hatter")
    assert create_robot_accounts(redis_client, NO_MACS)[RobotLevel.HARD] == "robot-hard-2"
    assert accounts.id_of("robot-hard") == person


def test_records_have_macs(redis_client, tmp_path):
    make_mac_key(tmp_path)
    macs = AccountMacs(tmp_path)
    create_robot_accounts(redis_client, macs)
    for account in ROBOT_ACCOUNTS.values():
        record = redis_client.get(keys.account(account))
        assert redis_client.get(keys.account_mac(account)) == macs.mac(account, record)


def test_a_change_of_a_record_stays(accounts, redis_client):
    create_robot_accounts(redis_client, NO_MACS)
    account = ROBOT_ACCOUNTS[RobotLevel.EASY]
    accounts.change_of(account, lambda record: replace(record, language="de"))
    create_robot_accounts(redis_client, NO_MACS)
    assert accounts.record_of(account).language == "de"


def test_a_robot_is_made_no_arbiter(accounts, redis_client):
    create_robot_accounts(redis_client, NO_MACS)
    with pytest.raises(Refusal, match="robot-hard is a robot, and robots rule on nothing"):
        accounts.set_arbiter("Robot-hard", True)
    assert accounts.arbiters() == []
    accounts.set_arbiter("robot-hard", False)
