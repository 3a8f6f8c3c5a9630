"""The records of robots' accounts, which the server makes for itself.

A robot's account id is a constant (`domain.match.state`) and its record says which level it has. No
password opens it, because its hash is that of no password. A userid that a person had before belongs
to that person: the robot's has a number then, such as `robot-easy-2`.

The record is written before the name points to it, as for anybody. All steps are repeated at each
start, so a kill in between does no harm, and neither do several processes at once.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any

import redis
from argon2 import PasswordHasher
from msgspec.structs import replace

from domain.game.engine import LEVELS, RobotLevel
from domain.match.state import ROBOT_ACCOUNTS, robot_name
from infra.people.account_macs import AccountMacs
from infra.people.accounts.passwords import unmatchable_hash
from infra.people.accounts.record import Account, decode, decode_profile, encode
from infra.people.accounts.usernames import Usernames
from infra.people.accounts.writing import write_account
from infra.redis import keys
from infra.redis.clients import time_ms


def create_robot_accounts(client: redis.Redis, macs: AccountMacs) -> Mapping[RobotLevel, str]:
    """Make the accounts of robots that are missing; return the userid of each level."""
    return {level: _create(client, macs, level) for level in LEVELS}


def read_robot_userids(client: redis.Redis) -> Mapping[RobotLevel, str]:
    """Return the userids of the robots that have accounts."""
    found: dict[RobotLevel, Any] = {
        level: client.get(keys.account(account)) for level, account in ROBOT_ACCOUNTS.items()
    }
    return {level: decode_profile(data).name for level, data in found.items() if data}


def _create(client: redis.Redis, macs: AccountMacs, level: RobotLevel) -> str:
    account, users = ROBOT_ACCOUNTS[level], Usernames(client)
    for number in count(1):
        name = robot_name(level) if number == 1 else f"{robot_name(level)}-{number}"
        holder = users.read(name)
        if holder is not None and holder[0] != account:
            continue
        _write_record(client, macs, level, name)
        # crash window: the record exists and no name points to it; the next start goes on here
        if users.claim(name, account) or users.find(name) == account:
            users.add(name)
            return name
    raise AssertionError  # the numbers have no end


def _write_record(client: redis.Redis, macs: AccountMacs, level: RobotLevel, name: str) -> None:
    """Write the record of a robot with this userid, unless it has it already."""
    account = ROBOT_ACCOUNTS[level]
    while True:
        found: Any = client.get(keys.account(account))
        old = decode(found) if found else None
        new = replace(old or _new_record(client, level), name=name, robot=level)
        if new == old or write_account(
            client, account, found or b"", encode(new), macs.mac(account, encode(new))
        ):
            return


def _new_record(client: redis.Redis, level: RobotLevel) -> Account:
    return Account(
        name=robot_name(level),
        password=unmatchable_hash(PasswordHasher()),
        created=time_ms(client),
        notify="none",
    )
