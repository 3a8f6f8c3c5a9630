"""What was said in matches and is to be mailed to who did not say it.

It goes with the next mail of the match, or after some minutes with one of its own: so lines that are
written one after the other are one mail. What is kept here are places in the chat and no texts: what
its writer has erased meanwhile is not mailed, and neither is what its reader has seen elsewhere.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId
from infra import scripts
from infra.letters import CHAT_LIMIT, Letter, Letters
from infra.mail import keys

WAIT_MS: Final = 5 * 60_000
"""How long a line waits for others, and for a move."""

_CHATTED: Final = scripts.Script("chat_mailed")
_KEYS: Final = (keys.CHAT_DUE, keys.CHAT_FIRST, keys.CHAT_LAST)


class Talk(msgspec.Struct, frozen=True):
    """Something said in a match that an account was not mailed yet."""

    account: AccountId
    board: int
    first: int
    """The time of the first line, ms."""
    last: int
    """The time of the newest one, ms."""


class Chats:
    """The chat that waits to be mailed. Errors of the server pass through; safe for threads."""

    def __init__(self, client: redis.Redis) -> None:
        # redis-py types no answer precisely
        self._client: Any = client

    def add(self, board: int, at: int, accounts: Iterable[AccountId], now: int) -> None:
        """Have a line mailed, said at a time by the letters' clock; harmless when repeated."""
        with self._client.pipeline(transaction=True) as pipe:
            for account in accounts:
                member = _member(account, board)
                pipe.zadd(keys.CHAT_FIRST, {member: at}, lt=True)
                pipe.zadd(keys.CHAT_LAST, {member: at}, gt=True)
                pipe.zadd(keys.CHAT_DUE, {member: now + WAIT_MS}, nx=True)
            pipe.execute()

    def due(self, now: int, count: int) -> list[Talk]:
        """Return what is to be mailed now."""
        late = f"({now + WAIT_MS}"
        found = self._client.zrangebyscore(
            keys.CHAT_DUE, "-inf", now, start=0, num=count
        ) or self._client.zrangebyscore(
            # nothing waits for longer: a clock ran ahead when this was noted
            *(keys.CHAT_DUE, late, "+inf"),
            start=0,
            num=count,
        )
        return [talk for member in found if (talk := self._talk(member.decode()))]

    def of(self, account: AccountId, board: int) -> Talk | None:
        """Return what an account is to be mailed of a match's chat, due or not."""
        return self._talk(_member(account, board))

    def done(self, talk: Talk, upto: int, now: int) -> None:
        """Note that lines up to a time were mailed, or are not to be."""
        args: list[scripts.Arg] = [_member(talk.account, talk.board), upto, now + WAIT_MS]
        scripts.call(self._client, _CHATTED, _KEYS, args)

    def forget(self, account: AccountId) -> None:
        """Erase what waits for an account; doing it twice is harmless."""
        found = self._client.zscan_iter(keys.CHAT_LAST, match=f"{account.hex()}:*")
        for member in [member for member, _ in found]:
            for name in _KEYS:
                self._client.zrem(name, member)

    def _talk(self, member: str) -> Talk | None:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zscore(keys.CHAT_FIRST, member)
            pipe.zscore(keys.CHAT_LAST, member)
            first, last = pipe.execute()
        if first is None or last is None:
            return None
        account, _, board = member.partition(":")
        return Talk(AccountId(bytes.fromhex(account)), int(board), int(first), int(last))


def lines_since(letters: Letters, account: AccountId, board: int, first: int) -> list[Letter]:
    """Return what others said at a board from a time on and the account has not read."""
    read = letters.chat_read(account, board)
    said = letters.chat_of(board, CHAT_LIMIT)
    return [one for one in said if one.at >= first and one.at > read and one.sender != account]


def _member(account: AccountId, board: int) -> str:
    return f"{account.hex()}:{board}"
