"""Unread messages and lines of chat of an account, and its notices of them."""

import msgspec
import redis

from domain.match.events import AccountId
from infra.people.message_notices import MessageNotice
from infra.people.messages import BOX_LIMIT, MessageStore, unread_lines
from infra.redis.clients import time_ms
from infra.redis.reads import read_all


class UnreadCounts(msgspec.Struct, frozen=True):
    """Numbers of unread messages."""

    boards: dict[int, int]
    """Unread lines of chat by match; matches without any are left out."""
    messages: int
    """Messages, and broadcasts."""


class UnreadOverview(msgspec.Struct, frozen=True):
    """The messages of a home page."""

    counts: UnreadCounts
    notices: list[MessageNotice]
    """All notices of messages and chat."""


class UnreadCounter:
    """Counts unread messages and chat."""

    def __init__(self, client: redis.Redis, messages: MessageStore) -> None:
        self._client = client
        self._messages = messages

    def counts(self, account: AccountId) -> UnreadCounts:
        """Return an account's unread lines of chat by match, and its unread messages."""
        return self.overview(account, time_ms(self._client)).counts

    def overview(self, account: AccountId, now: int) -> UnreadOverview:
        """Return the counts and the notices in one round trip; `now` is the server's time in ms."""
        marks, recent, notices = read_all(
            self._client,
            self._messages.read_marks(account),
            self._messages.read_recent(account, BOX_LIMIT, now),
            self._messages.notices.read_of(account),
        )
        new = sum(one.at > marks.get(one.kind, 0) for one in recent)
        return UnreadOverview(UnreadCounts(unread_lines(notices, marks), new), notices)
