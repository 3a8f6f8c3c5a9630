"""All notices of an account: of its matches, which come from the logs, and of messages.

Unread messages and lines of chat of an account, and its notices of them.

They are counted by their notices, of which the newest 200 are kept, because a notice is small: the texts of
an account's messages are read where they are shown.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import redis

from domain.records import AccountId
from infra.people.message_notices import (
    BORN_MARK,
    MessageNotice,
    MessageNotices,
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
from infra.projections.notices import (
    MOST_NOTICES,
    MatchNotices,
    NoticeKind,
    NoticePosition,
    NoticesAfter,
    PlayerNotice,
    position_of,
)
from infra.redis import keys
from infra.redis.clients import time_ms
from infra.redis.reads import Read, read_all, read_one

MOST_ROWS: Final = 3 * MOST_NOTICES
"""Most notices of an account: of matches, of messages to it, and of broadcasts."""


class AccountNotices:
    """The notices of accounts, of both kinds in one order."""

    def __init__(
        self, client: redis.Redis, matches: MatchNotices, messages: MessageNotices
    ) -> None:
        self._client = client
        self.matches = matches
        """Those of matches alone."""
        self._messages = messages

    def of(self, account: AccountId, start: int = 0, count: int = 50) -> list[PlayerNotice]:
        """Return an account's notices, the newest first; 200 of matches and 200 of messages are kept."""
        matches, (own, broadcasts, _) = read_all(
            self._client,
            self.matches.read_of(account, 0, start + count),
            self._messages.read_of(account),
        )
        return newest_first(matches, [*own, *broadcasts])[start : start + count]

    def since(self, wanted: Mapping[AccountId, NoticePosition]) -> dict[AccountId, NoticesAfter]:
        """Return accounts' notices after positions in their order, the oldest first; one round trip."""
        reads: list[Read[NoticesAfter]] = []
        for account, after in wanted.items():
            reads += [self.matches.since(account, after), self._messages.since(account, after)]
        found = read_all(self._client, *reads)
        pairs = zip(wanted, found[::2], found[1::2], strict=True)
        return {account: ours.with_(theirs) for account, ours, theirs in pairs}

    def marks(self, accounts: Sequence[AccountId]) -> Read[list[str]]:
        """Return the read of a text for each account that changes with its newest notice of a match."""
        return self.matches.change_marks(accounts)


def newest_first(
    matches: Sequence[PlayerNotice], messages: Sequence[MessageNotice]
) -> list[PlayerNotice]:
    """Return notices of both kinds in one order, the newest first."""
    return sorted([*matches, *(one.notice for one in messages)], key=position_of, reverse=True)


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
