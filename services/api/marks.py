"""Marks: short texts that change whenever the content of a page does.

A page holds the mark of its content, and a stream sends the present one. Where they differ the page is
out of date, however much it has missed. One query a second serves all watchers of a process.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

from domain.match.events import AccountId
from services.api.while_watched import Settable, WhileWatched
from services.app.context import App

LOOK_SECONDS: Final = 1.0
"""Pause between two queries while somebody watches."""

OFFERED: Final = 24
"""Open challenges that go into a mark, the newest first; the number of all of them does, too."""


class Home(NamedTuple):
    """The home page of an account: its lists, notices and messages, and the open challenges."""

    account: AccountId


class Chat(NamedTuple):
    """The chat of a match."""

    board: int


Topic: TypeAlias = Home | Chat


def marks(parts: App, topics: Collection[Topic]) -> dict[Topic, str]:
    """Return the present mark of each topic; `LookupError` while lists are being rebuilt."""
    homes = [one for one in topics if isinstance(one, Home)]
    chats = [one for one in topics if isinstance(one, Chat)]
    accounts = [one.account for one in homes]
    letters = parts.letters.marks(accounts, [one.board for one in chats])
    found: dict[Topic, str] = {}
    found.update(zip(chats, map(_short, letters[len(homes) :]), strict=True))
    if homes:
        offered, own = _offered(parts), letters[: len(homes)]
        each = zip(parts.lists.marks(accounts), parts.notices.marks(accounts), own, strict=True)
        found.update(zip(homes, (_short(f"{offered} {one}") for one in each), strict=True))
    return found


def _offered(parts: App) -> str:
    listed = parts.challenges.listed(None, 0, OFFERED)
    return repr([parts.challenges.count(), *((one.id, one.takers) for one in listed)])


def _short(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


class Marks(WhileWatched[tuple[Topic, ...], Settable]):
    """Computes the marks of watched topics, and wakes the watchers of those that change."""

    def __init__(self, parts: App, look_seconds: float = LOOK_SECONDS) -> None:
        super().__init__("reading marks", look_seconds)
        self._parts = parts
        self._known: Mapping[Topic, str] = {}

    def tell(self, topics: Sequence[Topic], news: Settable) -> AbstractContextManager[None]:
        """Set `news` whenever a mark of these topics changes, and when they are first known."""
        return self._watching(tuple(topics), news) if topics else nullcontext()

    def known(self, topic: Topic) -> str | None:
        """Return the mark of a topic that is watched; None before it is known."""
        return self._known.get(topic)

    async def _run_once(self) -> None:
        watchers = {topics: list(news) for topics, news in self._watchers.items()}
        wanted = list({topic for topics in watchers for topic in topics})
        before, self._known = self._known, await asyncio.to_thread(marks, self._parts, wanted)
        for topics, each in watchers.items():
            if any(before.get(topic) != self._known[topic] for topic in topics):
                for news in each:
                    news.set()
