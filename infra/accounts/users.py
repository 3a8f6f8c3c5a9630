"""Userids: to whom each belongs, and the list of all of them."""

from collections.abc import Sequence
from typing import Any

import redis

from domain.match.events import AccountId
from infra import keys, scripts
from infra.accounts.reading import is_name


class Users:
    """The userids on a server."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def find(self, name: str) -> AccountId | None:
        """Return the account a userid points to, which may be no more."""
        if not is_name(name):
            return None
        found: Any = self._client.get(keys.user(name.lower()))
        return found if found is None else AccountId(found)

    def read(self, name: str) -> tuple[AccountId, bytes] | None:
        """Return the account a userid leads to, with its record as stored now."""
        account = self.find(name)
        found: Any = account and self._client.get(keys.account(account))
        return None if account is None or found is None else (account, bytes(found))

    def claim(self, name: str, account: AccountId) -> bool:
        """Return a userid to an account whose record is written; False when it is another's."""
        while not self._client.set(keys.user(name), account, nx=True):
            holder = self.find(name)
            if holder is not None and self._exists(holder):
                return False
            if holder is not None:
                self.release(name, holder)  # a deletion was cut short
        # crash window: nobody sees the name in the list until its first login
        self.enlist(name)
        return True

    def enlist(self, name: str) -> None:
        """Put a userid on the list, where it may be already."""
        self._client.zadd(keys.USERS, {name: 0}, nx=True)

    def release(self, name: str, account: AccountId) -> None:
        """Free the userid of an account that is no more; does nothing to another's."""
        self._strike([name])
        # crash window: the name leads nowhere still, and the next who wants it comes back here
        scripts.compare_and_set(self._client, keys.user(name), account)

    def names(self, start: int, count: int) -> list[str]:
        """Give `count` userids in alphabetical order, from the one with index `start`."""
        while True:
            listed = self._range(start, count)
            living = self._living(listed)
            if len(living) == len(listed):
                return listed
            self._strike([name for name in listed if name not in living])

    def count(self) -> int:
        """Count the userids of the list."""
        return int(self._client.zcard(keys.USERS))

    def _range(self, start: int, count: int) -> list[str]:
        if start < 0 or count < 1:  # which Redis would count from the end
            return []
        found: Any = self._client.zrange(keys.USERS, start, start + count - 1)
        return [name.decode() for name in found]

    def _strike(self, names: Sequence[str]) -> None:
        """Take userids off the list that lead nowhere."""
        self._client.zrem(keys.USERS, *names)
        # who signed up between the look and the strike is put back; who does so later lists himself
        for name in self._living(names):
            self.enlist(name)

    def _living(self, names: Sequence[str]) -> set[str]:
        """Return those userids that lead to an account."""
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.get(keys.user(name))
            held = {
                name: account
                for name, account in zip(names, pipe.execute(), strict=True)
                if account is not None
            }
            for account in held.values():
                pipe.exists(keys.account(account))
            return {name for name, exists in zip(held, pipe.execute(), strict=True) if exists}

    def _exists(self, account: AccountId) -> bool:
        return bool(self._client.exists(keys.account(account)))
