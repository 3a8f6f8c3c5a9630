"""Unread messages and lines of chat of an account, and its notices of them.

They are counted by their notices, of which the newest 200 are kept, because a notice is small: the texts of
an account's messages are read where they are shown.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import redis

from domain.match.events import AccountId
from infra.people.message_notices import (
    BORN_MARK,
    MessageNotice,
    NoticeLists,
    parse_notices,
)
from infra.people.messages import (
    BROADCAST_LIMIT,
    KEPT_SECONDS,
    NEWS_MARK,
    MessageKind,
    MessageStore,
    unread_lines,
)
from infra.projections.notices import NoticeKind
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.reads import Read, read_one


class UnreadCounts(msgspec.Struct, frozen=True):
    """Numbers of unread messages."""

    boards: dict[int, int]
    """Unread lines of chat by match; matches without any are left out."""
    messages: int
    """Messages, and broadcasts."""
    news_read: int = 0
    """Up to when, ms, notices were read."""


class UnreadOverview(msgspec.Struct, frozen=True):
    """The messages of a home page."""

    counts: UnreadCounts
    notices: list[MessageNotice]
    """All notices of messages and chat."""
    mark: str
    """The text of `UnreadCounter.change_marks` for the account."""


class UnreadCounter:
    """Counts unread messages and chat."""

    def __init__(self, client: redis.Redis, messages: MessageStore) -> None:
        self._client = client
        self._messages = messages

    def counts(self, account: AccountId) -> UnreadCounts:
        """Return an account's unread lines of chat by match, and its unread messages."""
        return read_one(self._client, self.read(account, time_ms(self._client))).counts

    def read(self, account: AccountId, now: int) -> Read[UnreadOverview]:
        """Return the read of the counts and the notices; `now` is the server's time in ms."""
        lists = self._messages.notices.read_of(account)

        def parse(replies: list[Any]) -> UnreadOverview:
            found = own, broadcasts, read = lists.parse(replies)
            notices = [*own, *broadcasts]
            counts = UnreadCounts(
                boards=unread_lines(notices, read),
                messages=_unread_messages(found, now),
                news_read=int(read.get(NEWS_MARK, 0)),
            )
            return UnreadOverview(counts, notices, _text(*found))

        return Read(lists.queue, parse)

    def change_marks(self, accounts: Sequence[AccountId]) -> Read[list[str]]:
        """Return the read of a text for each account that changes with its messages and read marks."""

        def queue(pipe: Any) -> None:
            pipe.zrange(keys.BROADCAST_NOTICES, 0, 0, desc=True, withscores=True)
            for account in accounts:
                pipe.zrange(keys.message_notices(account), 0, 0, desc=True, withscores=True)
                self._messages.read_marks(account).queue(pipe)

        def parse(replies: list[Any]) -> list[str]:
            broadcasts, *rest = replies
            found = []
            for account, own, read in zip(accounts, rest[::2], rest[1::2], strict=True):
                marks = self._messages.read_marks(account).parse([read])
                newest = parse_notices(broadcasts, marks.get(BORN_MARK, 0))
                found.append(_text(parse_notices(own), newest, marks))
            return found

        return Read(queue, parse)


def _unread_messages(found: NoticeLists, now: int) -> int:
    """Return how many messages and broadcasts are newer than the read marks."""
    own, broadcasts, marks = found
    messages = [one for one in own if one.kind is NoticeKind.MESSAGE]
    each = (
        (messages, MessageKind.MESSAGE),
        (broadcasts[-BROADCAST_LIMIT:], MessageKind.BROADCAST),
    )
    oldest = now - KEPT_SECONDS * 1000
    return sum(
        one.message_at > max(oldest, marks.get(kind, 0))
        for notices, kind in each
        for one in notices
    )


def _text(
    own: Sequence[MessageNotice], broadcasts: Sequence[MessageNotice], marks: Mapping[str, float]
) -> str:
    """Return a text that changes with the newest notices and the read marks."""
    return repr([*own[-1:], *broadcasts[-1:], marks])
