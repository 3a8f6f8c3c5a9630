"""The check of accounts: records, their MACs, and the names that point to them."""

import logging
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from domain.records import AccountId
from infra.log.key_files import keys_folder
from infra.people.account_macs import (
    MacKey,
    MacKeyError,
    note_all_have_macs,
    read_mac_key,
)
from infra.people.accounts.record import Account, decode
from infra.people.accounts.usernames import Lookalikes
from infra.people.accounts.writing import write_account
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.store.scrub_notes import ScrubRecord
from workers.scrub.scrubber import ScrubFault, ScrubParts

logger = logging.getLogger(__name__)


class AccountCheck:
    """Checks accounts one by one: `begin` and `end` a walk through all of them."""

    def __init__(self, parts: ScrubParts) -> None:
        # redis-py types no answer precisely
        self._client: Any = parts.data
        self._folder = keys_folder(parts.settings)
        self._record = ScrubRecord(parts.data)
        self._whole_walk = False
        self._has_macs = False
        self._key: MacKey | None = None
        self._fault: list[ScrubFault] = []
        self._load()

    def _lists_are_lists(self) -> list[ScrubFault]:
        """Find lists of accounts that are of another type."""
        wanted = {keys.USERS: b"zset", **dict.fromkeys(keys.ROLES.values(), b"set")}
        return [
            ScrubFault(f"key {name}", "it is of another type than this program writes there")
            for name, kind in wanted.items()
            if self._client.type(name) not in (kind, b"none")
        ]

    def begin(self) -> None:
        """Begin a walk; only a walk without interruption shows that every record has a MAC."""
        self._whole_walk, self._has_macs = True, False
        self._load()

    def _load(self) -> None:
        try:
            self._key, self._fault = read_mac_key(self._folder), []
            if not self._key.since and self._record.all_have_macs():
                why = "its file lacks the line which says that all accounts have macs: it was changed or put back"
                self._key = replace(self._key, since=1)
                self._fault = [ScrubFault("accounts' key", why)]
        except MacKeyError as error:
            self._key, self._fault = None, [ScrubFault("accounts' key", str(error))]

    def end(self) -> list[ScrubFault]:
        """End a walk; after the first whole one every record must have a MAC."""
        if self._key and not self._key.since and self._whole_walk and not self._fault:
            self._note_all_have_macs()
        self._whole_walk = False
        # without a key and without MACs the accounts are not protected, as docs/operating.md says
        return self._fault if self._has_macs else []

    def _note_all_have_macs(self) -> None:
        try:
            note_all_have_macs(self._folder, time_ms(self._client))
        except OSError as error:
            # as where the keys are a secret of the machine, which no process may change
            logger.warning(
                "all accounts have MACs, and the key's file can't say so (%s): until it does, a record "
                "without one is no fault; let this process write to %s",
                *(error, self._folder),
            )
            return
        self._record.note_macs()
        logger.info("all accounts have MACs; one without is a fault from now on")

    def name(self, name: str) -> list[ScrubFault]:
        """Check that a userid points to the account of that name."""
        found = self._client.get(keys.user(name))
        about = f"userid {name}"
        if found is None:
            return []
        data, has_mac = self._client.mget(
            keys.account(AccountId(found)), keys.account_mac(AccountId(found))
        )
        if data is None:
            # without a MAC a deletion or a signup was cut off, and the next signup frees the name
            return (
                [ScrubFault(about, f"its account {found.hex()} is gone, and its MAC is there")]
                if has_mac
                else []
            )
        record = _record(data)
        if record is not None and record.name != name:
            return [ScrubFault(about, f"it points to the account of {record.name}")]
        Lookalikes(self._client).add(name)  # of an account that is older than these keys
        return []

    def record(self, account: AccountId) -> list[ScrubFault]:  # noqa: PLR0911 - one for each fault
        """Check a record: it can be read, its MAC fits, and its name points to it and is listed."""
        about = f"account {account.hex()}"
        with self._client.pipeline(transaction=True) as pipe:
            pipe.get(keys.account(account))
            pipe.get(keys.account_mac(account))
            pipe.pttl(keys.account(account))
            data, mac, left = pipe.execute()
        self._has_macs |= mac is not None
        if data is None:
            return [ScrubFault(about, "its record is gone, and its MAC is there")] if mac else []
        record = _record(data)
        if record is None:
            return [ScrubFault(about, "its record can't be read")]
        if left > 0:  # a signup is under way, or was cut off
            return []
        about = f"account {account.hex()} of {record.name}"
        if self._client.get(keys.user(record.name)) != account:
            return [ScrubFault(about, f"the userid {record.name} does not point to it")]
        if faults := self._lists_are_lists():
            return faults
        listed = self._client.zscore(keys.USERS, record.name)
        adopted = False
        if self._key is not None and mac != self._key.mac(account, data):
            if self._key.since:
                return [ScrubFault(about, self._why(mac))]
            adopted = write_account(self._client, account, data, data, self._key.mac(account, data))
        faults = self._role_faults(about, account, record)
        if listed == 0.0:
            return faults
        if adopted:  # an account that is older than the list is added there, as by its next login
            self._list(record.name)
            return faults
        why = "it was not in the list of all userids: the list was repaired"
        return [*faults, ScrubFault(about, why, mend=partial(self._list, record.name))]

    def _role_faults(self, about: str, account: AccountId, record: Account) -> list[ScrubFault]:
        """Check that each role is in its index, which names those to ask; only the record gives one."""
        faults = []
        for role in record.roles:
            index = keys.ROLES[role]
            if not self._client.sismember(index, account):
                why = f"it is missing in the list of all who are {role}: the list was repaired"
                add = partial(self._client.sadd, index, account)
                faults.append(ScrubFault(f"{role} {about}", why, mend=add))
        return faults

    def _list(self, name: str) -> None:
        self._client.zadd(keys.USERS, {name: 0})

    @staticmethod
    def _why(mac: bytes | None) -> str:
        if mac is None:
            return (
                "its record has no MAC: it was written by something else than this program, or by a process "
                "without the key `accounts-key`"
            )
        return "its record does not fit its MAC: something else than this program has changed it"


def _record(data: bytes) -> Account | None:
    try:
        return decode(data)
    except (msgspec.MsgspecError, ValueError):  # a text that is no UTF-8 is the second
        return None
