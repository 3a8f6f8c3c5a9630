"""The queue of match chat to mail to the other players.

It is sent with the next mail of the match, or after some minutes by itself, so that lines written one
after the other make one mail. The queue has times of lines and no texts: a line that was erased, or
read on a page, before the mail is made is not mailed.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId
from infra.people.messages import CHAT_LIMIT, MessageStore, PlayerMessage
from infra.redis import mail_keys as keys
from infra.redis import scripts

WAIT_MS: Final = 5 * 60_000
"""How long a line waits for others, and for a move."""

_CHAT_MAILED: Final = scripts.Script("chat_mailed")
_KEYS: Final = (keys.CHAT_DUE, keys.CHAT_FIRST, keys.CHAT_LAST)


class UnmailedChat(msgspec.Struct, frozen=True):
    """Lines of a match's chat that were not mailed to an account yet."""

    account: AccountId
    board: int
    first: int
    """The time of the first line, ms."""
    last: int
    """The time of the newest one, ms."""


class ChatMailQueue:
    """The chat that waits to be mailed. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def add(self, board: int, at: int, accounts: Iterable[AccountId], now: int) -> None:
        """Queue a line, by its time in the chat; safe to repeat."""
        with self._client.pipeline(transaction=True) as pipe:
            for account in accounts:
                member = _member(account, board)
                pipe.zadd(keys.CHAT_FIRST, {member: at}, lt=True)
                pipe.zadd(keys.CHAT_LAST, {member: at}, gt=True)
                pipe.zadd(keys.CHAT_DUE, {member: now + WAIT_MS}, nx=True)
            pipe.execute()

    def due(self, now: int, count: int) -> list[UnmailedChat]:
        """Return chat that is due to be mailed."""
        found = keys.due_members(self._client, keys.CHAT_DUE, now, WAIT_MS, count)
        return [talk for member, _ in found if (talk := self._talk(member.decode()))]

    def of(self, account: AccountId, board: int) -> UnmailedChat | None:
        """Return the unmailed chat of a match for an account, due or not; None if there is none."""
        return self._talk(_member(account, board))

    def mark_mailed(self, talk: UnmailedChat, upto: int, now: int) -> None:
        """Remove the lines up to a time, which were mailed or need not be."""
        args: list[scripts.Arg] = [_member(talk.account, talk.board), upto, now + WAIT_MS]
        scripts.call(self._client, _CHAT_MAILED, _KEYS, args)

    def forget(self, account: AccountId) -> None:
        """Erase the chat that waits for an account; safe to repeat."""
        found = self._client.zscan_iter(keys.CHAT_LAST, match=f"{account.hex()}:*")
        for member in [member for member, _ in found]:
            for name in _KEYS:
                self._client.zrem(name, member)

    def _talk(self, member: str) -> UnmailedChat | None:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zscore(keys.CHAT_FIRST, member)
            pipe.zscore(keys.CHAT_LAST, member)
            first, last = pipe.execute()
        if first is None or last is None:
            return None
        account, _, board = member.partition(":")
        return UnmailedChat(AccountId(bytes.fromhex(account)), int(board), int(first), int(last))


def lines_since(
    letters: MessageStore, account: AccountId, board: int, first: int
) -> list[PlayerMessage]:
    """Return the lines by others in a match from a time on that the account has not read."""
    read = letters.chat_read_until(account, board)
    said = letters.chat_of(board, CHAT_LIMIT)
    return [one for one in said if one.at >= first and one.at > read and one.sender != account]


def _member(account: AccountId, board: int) -> str:
    return f"{account.hex()}:{board}"
