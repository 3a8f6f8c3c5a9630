"""Lists of accounts: the matches that they watch, and the players that they follow.

| key | what |
|---|---|
| `{a:<hex>}:watched` | hash: board of a watched match -> nothing |
| `{a:<hex>}:followed` | hash: id of a followed account -> nothing |

Both lists are personal data: nobody else learns who watches a match or follows a player. They are stored beside
the account's record, and written only while that exists: see `infra.people.account_index`.

Durable as `infra.people.messages` is.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.match.events import AccountId
from infra.people.account_index import index_under_account
from infra.redis import keys
from infra.redis.reads import Read, read_one
from infra.sentences import SAY

MOST_WATCHED: Final = 200
"""Matches that one account may watch."""

MOST_FOLLOWED: Final = 100
"""Accounts that one account may follow."""


class FollowList(msgspec.Struct, frozen=True):
    """All that an account watches and follows."""

    boards: tuple[int, ...]
    """The watched matches, the newest board first."""
    accounts: tuple[AccountId, ...]
    """The followed accounts, sorted by id; some may be deleted."""


class Follows:
    """The lists on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def watch(self, account: AccountId, board: int) -> None:
        """Watch a match; safe to repeat.

        Refused as `too-many`, and as `unknown-user` for a deleted account.
        """
        name = keys.watched(account)
        if not index_under_account(self._client, account, name, str(board), "", MOST_WATCHED):
            raise Refusal(Code.TOO_MANY, SAY("watched", most=MOST_WATCHED))

    def unwatch(self, account: AccountId, board: int) -> None:
        """Stop watching a match; safe to repeat."""
        self._client.hdel(keys.watched(account), str(board))

    def follow(self, account: AccountId, other: AccountId) -> None:
        """Follow another account; safe to repeat. Refused as `watch` is."""
        name = keys.followed(account)
        if not index_under_account(self._client, account, name, other.hex(), "", MOST_FOLLOWED):
            raise Refusal(Code.TOO_MANY, SAY("followed", most=MOST_FOLLOWED))

    def unfollow(self, account: AccountId, others: Sequence[AccountId]) -> None:
        """Stop following others; safe to repeat."""
        if others:
            self._client.hdel(keys.followed(account), *[other.hex() for other in others])

    def of(self, account: AccountId) -> FollowList:
        """Return all that the account watches and follows."""
        return read_one(self._client, self.read(account))

    @staticmethod
    def read(account: AccountId) -> Read[FollowList]:
        """Return the read of `of`."""

        def queue(pipe: Any) -> None:
            pipe.hkeys(keys.watched(account))
            pipe.hkeys(keys.followed(account))

        def parse(replies: list[Any]) -> FollowList:
            boards, others = replies
            return FollowList(
                tuple(sorted(map(int, boards), reverse=True)),
                tuple(sorted(bytes.fromhex(other.decode()) for other in others)),
            )

        return Read(queue, parse)

    @staticmethod
    def read_watches(account: AccountId, board: int) -> Read[bool]:
        """Return the read of whether the account watches a match."""
        return Read(
            lambda pipe: pipe.hexists(keys.watched(account), str(board)),
            lambda replies: bool(replies[0]),
        )

    def follows(self, account: AccountId, other: AccountId) -> bool:
        """Return whether the account follows another."""
        return bool(self._client.hexists(keys.followed(account), other.hex()))

    def forget(self, account: AccountId) -> None:
        """Erase both lists of an account; safe to repeat, see `Accounts.delete`."""
        self._client.delete(keys.watched(account), keys.followed(account))
