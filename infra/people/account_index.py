"""Hashes of what belongs to an account, such as its notes, beside the account's record.

A hash and the record are in one slot of a cluster, and an entry is added only while the record exists,
in one step: after an account is deleted nothing is added under it.
"""

from typing import Final

import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.redis import keys, scripts

_INDEX: Final = scripts.Script("index_under_account")


def index_under_account(
    client: redis.Redis,
    account: AccountId,
    name: str,
    field: str,
    value: scripts.Arg,
    most: int,
    *,
    stays: bool = False,
) -> bool:
    """Add a field to the hash `name`; False when it has `most` fields, and this is not one of them.

    A value that is there is replaced, unless it `stays`. `unknown-user` for an account that was deleted.
    """
    args: list[scripts.Arg] = [field, value, most, int(stays)]
    answer = scripts.call(client, _INDEX, [keys.account(account), name], args)
    if answer == b"gone":
        raise account_deleted()
    return bool(answer != b"full")


def account_deleted() -> Refusal:
    """Return the refusal of what needs an account that was deleted meanwhile."""
    return Refusal(Code.UNKNOWN_USER, "the account was deleted at this moment")
