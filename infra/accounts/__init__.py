"""Accounts: who a userid is, whether a password is theirs, and how they leave again.

An account is three keys that may live in different slots of a cluster: the record, which holds all
personal data, the name, which points to it, and the name's place in the list of users. Nothing
makes them change together, so they change in an order that leaves no harm behind a kill:

- the record is written before the name points to it, and the name is listed after that;
- the record goes first, the name is taken off the list, and the name is freed last.

So a name that leads to no record is nobody's: a deletion was cut short, or a signup was and has
expired. Whoever comes across it may free it. A record expires until its name is claimed. A name
that is claimed and not listed is listed at the next login; one that is listed and not claimed is
taken off by whoever reads the list.

Everything else knows a player by account id only: 64 random bits.
"""

from infra.accounts.accounts import Accounts
from infra.accounts.passwords import HASHES_AT_ONCE, HASHES_WAITING, RecentPasswords
from infra.accounts.reading import (
    MOST_ADDRESSES,
    PASSWORD_LENGTHS,
    RESERVED,
    check_password,
    read_address,
    read_addresses,
    read_name,
)
from infra.accounts.record import Account, Address, Profile

__all__ = [
    "HASHES_AT_ONCE",
    "HASHES_WAITING",
    "MOST_ADDRESSES",
    "PASSWORD_LENGTHS",
    "RESERVED",
    "Account",
    "Accounts",
    "Address",
    "Profile",
    "RecentPasswords",
    "check_password",
    "read_address",
    "read_addresses",
    "read_name",
]
