"""Blocks: whom an account wants no challenges, no messages and no chat of.

A list is personal data. It stands beside its account's record, in one slot with it, and is written
only while that is there. The account that is blocked is not told, and finds out when it is refused.

Durable as `infra.letters` is.
"""

from collections.abc import Sequence
from typing import Any, Final

import redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra import keys
from infra.account_index import index_under_account

MOST: Final = 500
"""Accounts that one account may block."""


class Blocks:
    """The blocks on a server. Errors of the server pass through; safe for several threads."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, account: AccountId, other: AccountId) -> None:
        """Block another; doing it twice is harmless.

        Refused as `too-many`, and as `unknown-user` for an account that is no more.
        """
        name = keys.blocked(account)
        if not index_under_account(self._client, account, name, other.hex(), "", MOST):
            raise Refusal(Code.TOO_MANY, f"an account blocks at most {MOST} others; unblock one")

    def remove(self, account: AccountId, others: Sequence[AccountId]) -> None:
        """Unblock others; doing it twice is harmless."""
        if others:
            self._client.hdel(keys.blocked(account), *[other.hex() for other in others])

    def of(self, account: AccountId) -> list[AccountId]:
        """Return whom the account blocks, in the order of ids; some may have been erased since."""
        found: Any = self._client.hkeys(keys.blocked(account))
        return sorted(bytes.fromhex(other.decode()) for other in found)

    def by(self, accounts: Sequence[AccountId], other: AccountId) -> list[AccountId]:
        """Return those of the accounts that block the other, in their order."""
        with self._client.pipeline(transaction=False) as pipe:
            for account in accounts:
                pipe.hexists(keys.blocked(account), other.hex())
            found = pipe.execute()
        return [account for account, yes in zip(accounts, found, strict=True) if yes]

    def forget(self, account: AccountId) -> None:
        """Erase all that an account blocks; doing it twice is harmless.

        Who deletes an account calls this once more when its record is gone: before that, another
        may be blocked.
        """
        self._client.delete(keys.blocked(account))
