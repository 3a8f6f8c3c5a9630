"""Block lists: the accounts from which an account accepts no challenges, messages and chat.

A list is personal data. It is stored beside its account's record, and written only while that exists:
see `infra.people.account_index`. A blocked account gets no notice, and finds out when it is refused.

Durable as `infra.people.messages` is.
"""

from collections.abc import Sequence
from typing import Any, Final

import redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.account_index import index_under_account
from infra.redis import keys
from infra.sentences import SAY

MOST_BLOCKS: Final = 500
"""Accounts that one account may block."""


class BlockList:
    """The block lists on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def add(self, account: AccountId, other: AccountId) -> None:
        """Block another account; safe to repeat.

        Refused as `too-many`, and as `unknown-user` for a deleted account.
        """
        name = keys.blocked(account)
        if not index_under_account(self._client, account, name, other.hex(), "", MOST_BLOCKS):
            raise Refusal(Code.TOO_MANY, SAY("blocks", most=MOST_BLOCKS))

    def remove(self, account: AccountId, others: Sequence[AccountId]) -> None:
        """Unblock others; safe to repeat."""
        if others:
            self._client.hdel(keys.blocked(account), *[other.hex() for other in others])

    def of(self, account: AccountId) -> list[AccountId]:
        """Return the accounts that the account blocks, sorted by id; some may be deleted."""
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
        """Erase an account's block list; safe to repeat, see `Accounts.delete`."""
        self._client.delete(keys.blocked(account))
