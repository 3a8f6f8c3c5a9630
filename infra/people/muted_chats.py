"""Chats that accounts have muted: a line there brings them no notice and no mail, and counts as no new one.

A list is personal data. It is stored beside its account's record, and written only while that exists:
see `infra.people.account_index`. The chat itself can be read as before.

Durable as `infra.people.messages` is.
"""

from collections.abc import Sequence
from typing import Final

import redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.account_index import index_under_account
from infra.redis import keys
from infra.redis.reads import Read
from infra.sentences import SAY

MOST_MUTED: Final = 500
"""Chats that one account may mute."""


class MutedChats:
    """The muted chats on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def mute(self, account: AccountId, board: int) -> None:
        """Mute the chat of a match; safe to repeat.

        Refused as `too-many`, and as `unknown-user` for a deleted account.
        """
        name = keys.muted(account)
        if not index_under_account(self._client, account, name, str(board), "", MOST_MUTED):
            raise Refusal(Code.TOO_MANY, SAY("muted", most=MOST_MUTED))

    def unmute(self, account: AccountId, board: int) -> None:
        """End the muting of a chat; safe to repeat."""
        self._client.hdel(keys.muted(account), str(board))

    @staticmethod
    def read(account: AccountId, board: int) -> Read[bool]:
        """Return the read of whether the account has muted the chat of a match."""
        return Read(
            lambda pipe: pipe.hexists(keys.muted(account), str(board)),
            lambda replies: bool(replies[0]),
        )

    def by(self, accounts: Sequence[AccountId], board: int) -> list[AccountId]:
        """Return those of the accounts that have muted the chat of a match, in their order."""
        with self._client.pipeline(transaction=False) as pipe:
            for account in accounts:
                pipe.hexists(keys.muted(account), str(board))
            found = pipe.execute()
        return [account for account, yes in zip(accounts, found, strict=True) if yes]

    def forget(self, account: AccountId) -> None:
        """Erase an account's muted chats; safe to repeat, see `Accounts.delete`."""
        self._client.delete(keys.muted(account))
