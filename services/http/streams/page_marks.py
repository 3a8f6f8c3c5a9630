"""Marks: short texts that change whenever the content of a page does.

A page holds the mark of its content, and a stream sends the present one. If they differ, the page
is out of date, even if it has missed several changes. One query a second serves all watchers of a
process.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from domain.records import AccountId
from infra.people.challenges import ChallengesOverview
from infra.people.messages import mark_of
from infra.redis.reads import Read, read_all, read_one
from services.app.context import App
from services.http.streams.limits import Settable, WhileWatched

POLL_SECONDS: Final = 1.0
"""Pause between two queries while somebody watches."""

NEWEST_CHALLENGES: Final = 24
"""Open challenges that go into a mark, the newest first; the number of all of them does, too."""


class HomeTopic(NamedTuple):
    """The home page of an account: its lists, notices and messages, and the open challenges."""

    account: AccountId


class WaitingTopic(msgspec.Struct, frozen=True):
    """The number of matches that wait for an account.

    It is no tuple, because the one of an account would equal its `HomeTopic`.
    """

    account: AccountId


class MessagesTopic(msgspec.Struct, frozen=True):
    """The messages to an account."""

    account: AccountId


class ChatTopic(NamedTuple):
    """The chat of a match."""

    board: int


class ChallengesTopic(NamedTuple):
    """The list of open challenges."""


Topic: TypeAlias = HomeTopic | WaitingTopic | MessagesTopic | ChatTopic | ChallengesTopic


def page_marks(parts: App, topics: Collection[Topic]) -> dict[Topic, str]:
    """Return the present mark of each topic; `LookupError` while lists are being rebuilt."""
    homes = [one for one in topics if isinstance(one, HomeTopic)]
    chats = [one for one in topics if isinstance(one, ChatTopic)]
    waiting = [one for one in topics if isinstance(one, WaitingTopic)]
    letters = [one for one in topics if isinstance(one, MessagesTopic)]
    accounts = [one.account for one in homes]
    reads: list[Read[Any]] = [
        parts.messages.chat_marks([one.board for one in chats]),
        parts.lists.read_waiting_counts([one.account for one in waiting]),
        parts.unread.change_marks([one.account for one in letters]),
    ]
    of_challenges = [one for one in topics if isinstance(one, ChallengesTopic)]
    if homes:
        reads += [
            parts.lists.change_marks(accounts),
            parts.notices.marks(accounts),
            parts.unread.change_marks(accounts),
        ]
    if homes or of_challenges:
        reads += [parts.challenges.read_ids(None, NEWEST_CHALLENGES), parts.time.read()]
    texts, counts, of_messages, *others = read_all(parts.data, *reads)
    found: dict[Topic, str] = {}
    found.update(zip(chats, map(mark_of, texts), strict=True))
    found.update(zip(waiting, map(str, counts), strict=True))
    found.update(zip(letters, map(mark_of, of_messages), strict=True))
    if homes or of_challenges:
        *each, ids, now = others
        listed = read_one(parts.data, parts.challenges.read_listed(ids, now))
        open_ = parts.challenges.overview_of(listed)
        found.update((one, challenges_mark(open_)) for one in of_challenges)
        for home, *marks in zip(homes, *each, strict=True) if homes else ():
            found[home] = home_mark(open_, *marks)
    return found


def challenges_mark(open_: ChallengesOverview) -> str:
    """Return the mark of the list of open challenges."""
    return mark_of(repr((open_.total, [(one.id, one.takers) for one in open_.newest])))


def home_mark(open_: ChallengesOverview, lists: str, notices: str, messages: str) -> str:
    """Return the mark of a home page, from texts that change with its parts."""
    offered = [open_.total, *((one.id, one.takers) for one in open_.newest)]
    return mark_of(repr((offered, lists, notices, messages)))


class MarkWatch(WhileWatched[tuple[Topic, ...], Settable]):
    """Computes the marks of watched topics, and wakes the watchers of those that change."""

    def __init__(self, parts: App, look_seconds: float = POLL_SECONDS) -> None:
        super().__init__("reading marks", look_seconds)
        self._parts = parts
        self._known: Mapping[Topic, str] = {}

    def notify(self, topics: Sequence[Topic], news: Settable) -> AbstractContextManager[None]:
        """Set `news` whenever a mark of these topics changes, and when they are first known."""
        return self._watching(tuple(topics), news) if topics else nullcontext()

    def current(self, topic: Topic) -> str | None:
        """Return the mark of a topic that is watched; None before it is known."""
        return self._known.get(topic)

    async def _run_once(self) -> None:
        watchers = {topics: list(news) for topics, news in self._watchers.items()}
        wanted = list({topic for topics in watchers for topic in topics})
        before, self._known = self._known, await asyncio.to_thread(page_marks, self._parts, wanted)
        for topics, each in watchers.items():
            if any(before.get(topic) != self._known[topic] for topic in topics):
                for news in each:
                    news.set()
