"""Lists under accounts: whom an account blocks, whose chats it mutes, and what it watches and follows.

| key | what |
|---|---|
| `{a:<hex>}:blocked` | hash: id of an account from which this one accepts no challenges, messages and chat -> nothing |
| `{a:<hex>}:muted` | hash: board of a match whose chat brings the account no notice and no mail -> nothing |
| `{a:<hex>}:watched` | hash: board of a watched match -> nothing |
| `{a:<hex>}:pinned` | hash: board of a match that is first in its player's lists -> nothing |
| `{a:<hex>}:followed` | hash: id of a followed account -> nothing |

A list is personal data: a blocked account gets no notice, and nobody learns who watches a match or follows a player.
It is stored beside its account's record, and written only while that exists: see `infra.people.account_index`.

Durable as `infra.people.messages` is.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec
import redis

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.sentences import Text
from infra.people.account_index import index_under_account
from infra.redis import keys
from infra.redis.reads import Read, read_one
from infra.sentences import SAY

Item = TypeVar("Item", AccountId, int)


class ListKind(NamedTuple, Generic[Item]):
    """One kind of list."""

    key: Callable[[AccountId], str]
    most: int
    """Items that one account may have on it."""
    one_too_many: Callable[[int], Text]
    """The sentence that refuses one more, of how many there may be."""
    text_of: Callable[[Item], str]
    item_of: Callable[[str], Item]


BLOCKED: Final = ListKind[AccountId](
    keys.of_account(":blocked"),
    500,
    lambda most: SAY("blocks", most=most),
    bytes.hex,
    bytes.fromhex,
)
FOLLOWED: Final = ListKind[AccountId](
    keys.of_account(":followed"),
    100,
    lambda most: SAY("followed", most=most),
    bytes.hex,
    bytes.fromhex,
)
MUTED: Final = ListKind[int](
    keys.of_account(":muted"), 500, lambda most: SAY("muted", most=most), str, int
)
WATCHED: Final = ListKind[int](
    keys.of_account(":watched"), 200, lambda most: SAY("watched", most=most), str, int
)
PINNED: Final = ListKind[int](
    keys.of_account(":pinned"), 20, lambda most: SAY("pinned", most=most), str, int
)


class AccountList(Generic[Item]):
    """The lists of one kind on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis, kind: ListKind[Item]) -> None:
        self._client = client
        self._kind: ListKind[Item] = kind

    def add(self, account: AccountId, item: Item, value: str = "") -> None:
        """Put an item on the account's list, or replace its value; safe to repeat.

        Refused as `too-many`, and as `unknown-user` for a deleted account.
        """
        kind = self._kind
        name, field = kind.key(account), kind.text_of(item)
        if not index_under_account(self._client, account, name, field, value, kind.most):
            raise Refusal(Code.TOO_MANY, kind.one_too_many(kind.most))

    def remove(self, account: AccountId, items: Sequence[Item]) -> None:
        """Take items off the account's list; safe to repeat."""
        if items:
            self._client.hdel(self._kind.key(account), *map(self._kind.text_of, items))

    def of(self, account: AccountId) -> list[Item]:
        """Return the account's items, sorted; accounts among them may be deleted."""
        return read_one(self._client, self.read(account))

    def read(self, account: AccountId) -> Read[list[Item]]:
        """Return the read of `of`."""
        kind = self._kind
        return Read(
            lambda pipe: pipe.hkeys(kind.key(account)),
            lambda replies: sorted(kind.item_of(field.decode()) for field in replies[0]),
        )

    def has(self, account: AccountId, item: Item) -> bool:
        """Return whether an item is on the account's list."""
        return read_one(self._client, self.read_has(account, item))

    def read_has(self, account: AccountId, item: Item) -> Read[bool]:
        """Return the read of `has`."""
        return Read(
            lambda pipe: pipe.hexists(self._kind.key(account), self._kind.text_of(item)),
            lambda replies: bool(replies[0]),
        )

    def by(self, accounts: Sequence[AccountId], item: Item) -> list[AccountId]:
        """Return those of the accounts that have an item on their lists, in their order."""
        with self._client.pipeline(transaction=False) as pipe:
            for account in accounts:
                pipe.hexists(self._kind.key(account), self._kind.text_of(item))
            found = pipe.execute()
        return [account for account, yes in zip(accounts, found, strict=True) if yes]

    def forget(self, account: AccountId) -> None:
        """Erase the list of an account; safe to repeat, see `Accounts.delete`."""
        self._client.delete(self._kind.key(account))


class FollowList(msgspec.Struct, frozen=True):
    """All that an account watches and follows."""

    boards: tuple[int, ...]
    """The watched matches, the newest board first."""
    accounts: tuple[AccountId, ...]
    """The followed accounts, sorted by id; some may be deleted."""
    pinned: tuple[int, ...] = ()
    """The pinned matches, the newest board first."""


class MatchMarks(msgspec.Struct, frozen=True):
    """The lists of an account that a match is on."""

    watched: bool = False
    pinned: bool = False


class Follows:
    """The matches that accounts watch and pin, and the players that they follow."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self.boards = AccountList(client, WATCHED)
        self.accounts = AccountList(client, FOLLOWED)
        self.pinned = AccountList(client, PINNED)

    def of(self, account: AccountId) -> FollowList:
        """Return all that the account watches and follows."""
        return read_one(self._client, self.read(account))

    def read(self, account: AccountId) -> Read[FollowList]:
        """Return the read of `of`."""
        accounts = self.accounts.read(account)
        boards, pinned = self.boards.read(account), self.pinned.read(account)

        def queue(pipe: Any) -> None:
            boards.queue(pipe)
            accounts.queue(pipe)
            pinned.queue(pipe)

        def parse(replies: list[Any]) -> FollowList:
            watched, followed, first = ([reply] for reply in replies)
            return FollowList(
                tuple(reversed(boards.parse(watched))),
                tuple(accounts.parse(followed)),
                tuple(reversed(pinned.parse(first))),
            )

        return Read(queue, parse)

    def read_marks(self, account: AccountId, board: int) -> Read[MatchMarks]:
        """Return the read of which lists a match is on."""
        watched, pinned = (one.read_has(account, board) for one in (self.boards, self.pinned))

        def queue(pipe: Any) -> None:
            watched.queue(pipe)
            pinned.queue(pipe)

        return Read(queue, lambda replies: MatchMarks(*map(bool, replies)))

    def forget(self, account: AccountId) -> None:
        """Erase the lists of an account; safe to repeat, see `Accounts.delete`."""
        self.boards.forget(account)
        self.accounts.forget(account)
        self.pinned.forget(account)
