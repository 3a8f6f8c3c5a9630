"""Userids: the account of each, and the list of all."""

from collections.abc import Sequence
from typing import Any

import redis

from domain.match.events import AccountId
from infra.people.accounts.validation import is_name
from infra.redis import keys, scripts


class Usernames:
    """The userids on a server."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def find(self, name: str) -> AccountId | None:
        """Return the account a userid points to, which may be deleted."""
        if not is_name(name):
            return None
        found: Any = self._client.get(keys.user(name.lower()))
        return found if found is None else AccountId(found)

    def read(self, name: str) -> tuple[AccountId, bytes] | None:
        """Return the account of a userid, with its record as stored now."""
        account = self.find(name)
        found: Any = account and self._client.get(keys.account(account))
        return None if account is None or found is None else (account, bytes(found))

    def claim(self, name: str, account: AccountId) -> bool:
        """Claim a userid for an account whose record is written; False if another has it."""
        while not self._client.set(keys.user(name), account, nx=True):
            holder = self.find(name)
            if holder is not None and self._exists(holder):
                return False
            if holder is not None:
                self.release(name, holder)  # a deletion was killed
        # crash window: the name is not in the list until its first login
        self.add(name)
        return True

    def add(self, name: str) -> None:
        """Add a userid to the list; safe to repeat."""
        self._client.zadd(keys.USERS, {name: 0}, nx=True)

    def release(self, name: str, account: AccountId) -> None:
        """Free the userid of a deleted account, unless another account has it now."""
        self._remove([name])
        # crash window: the name still points nowhere, and the next claim comes back here
        scripts.compare_and_set(self._client, keys.user(name), account)

    def names(self, start: int, count: int) -> list[str]:
        """Return `count` userids in alphabetical order, from index `start`."""
        while True:
            listed = self._range(start, count)
            living = self._existing(listed)
            if len(living) == len(listed):
                return listed
            self._remove([name for name in listed if name not in living])

    def starting(self, text: str, count: int) -> list[str]:
        """Return up to `count` userids that begin with a text, in alphabetical order."""
        begin = text.lower().encode("ascii", "replace")
        found: Any = self._client.zrange(
            keys.USERS, b"[" + begin, b"[" + begin + b"\xff", bylex=True, offset=0, num=count
        )
        listed = [name.decode() for name in found]
        living = self._existing(listed)
        return [name for name in listed if name in living]

    def after(self, name: str, count: int) -> list[str]:
        """Return the next `count` userids after one; some may have no account any longer."""
        begin = b"(" + name.encode() if name else b"-"
        found: Any = self._client.zrange(keys.USERS, begin, b"+", bylex=True, offset=0, num=count)
        return [one.decode() for one in found]

    def count(self) -> int:
        """Return the length of the list."""
        return int(self._client.zcard(keys.USERS))

    def _range(self, start: int, count: int) -> list[str]:
        if start < 0 or count < 1:  # because Redis would count from the end
            return []
        found: Any = self._client.zrange(keys.USERS, start, start + count - 1)
        return [name.decode() for name in found]

    def _remove(self, names: Sequence[str]) -> None:
        """Remove userids without an account from the list."""
        self._client.zrem(keys.USERS, *names)
        # a signup in between is added back; a later one adds itself
        for name in self._existing(names):
            self.add(name)

    def _existing(self, names: Sequence[str]) -> set[str]:
        """Return the userids that have an account."""
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
