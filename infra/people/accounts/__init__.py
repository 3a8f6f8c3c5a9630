"""Accounts: userids, passwords, records, and their deletion.

An account is three keys that may be in different slots of a cluster: the record with all personal
data, the name that points to it, and the name's entry in the list of users. Nothing changes them
together, so they change in an order in which a kill does no harm:

- the record is written before the name points to it, and the name is listed after that;
- the record is deleted first, then the name is removed from the list, and freed last.

So a name without a record belongs to nobody, because a deletion or a signup was killed, and any process
may free it. A record expires until its name is claimed. A name that is claimed and not listed is listed
at the next login; one that is listed and not claimed is removed by any reader of the list.

All other data refer to a player by account id only: 64 random bits.
"""

from infra.people.accounts.accounts import Accounts
from infra.people.accounts.passwords import (
    HASHES_AT_ONCE,
    HASHES_WAITING,
    PASSWORD_LENGTHS,
    SHORTEST_PASSWORD,
    RecentPasswords,
    check_password,
)
from infra.people.accounts.record import Account, AccountRole, MailAddress, Profile
from infra.people.accounts.robots import create_robot_accounts, read_robot_userids
from infra.people.accounts.usernames import MOST_ADDRESSES, read_address, read_addresses, read_name

__all__ = [
    "HASHES_AT_ONCE",
    "HASHES_WAITING",
    "MOST_ADDRESSES",
    "PASSWORD_LENGTHS",
    "SHORTEST_PASSWORD",
    "Account",
    "AccountRole",
    "Accounts",
    "MailAddress",
    "Profile",
    "RecentPasswords",
    "check_password",
    "create_robot_accounts",
    "read_address",
    "read_addresses",
    "read_name",
    "read_robot_userids",
]
