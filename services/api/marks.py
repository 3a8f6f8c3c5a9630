"""Marks: short texts that change whenever what a page shows does.

A page holds the mark of what it shows, and a stream tells the present one: where they differ the page
is out of date, however much it has missed. One look a second serves all who watch in a process.
"""

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeAlias

from redis.exceptions import RedisError

from domain.match.events import AccountId
from services.api.following import Settable
from services.app.context import App

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
"""How often it is looked while somebody watches."""

OFFERED: Final = 24
"""Open challenges that a mark is made of, the newest; it also changes with the number of all."""


class Home(NamedTuple):
    """What concerns an account: its lists, notices and messages, and the open challenges."""

    account: AccountId


class Chat(NamedTuple):
    """What was said at a board."""

    board: int


Topic: TypeAlias = Home | Chat


def marks(parts: App, topics: Collection[Topic]) -> dict[Topic, str]:
    """Return the present mark of each topic; `LookupError` while lists are being made anew."""
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


class Marks:
    """Looks at what is watched, and wakes who watches it."""

    def __init__(self, parts: App, look_seconds: float = LOOK_SECONDS) -> None:
        self._parts = parts
        self._look_seconds = look_seconds
        self._watching: dict[Settable, Sequence[Topic]] = {}
        self._known: Mapping[Topic, str] = {}
        self._joined = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    @contextmanager
    def tell(self, topics: Sequence[Topic], news: Settable) -> Iterator[None]:
        """Set `news` whenever a mark of these changes, and when they are first known."""
        if not topics:
            yield
            return
        self._watching[news] = topics
        self._joined.set()
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            yield
        finally:
            del self._watching[news]

    def known(self, topic: Topic) -> str | None:
        """Return the mark of a topic that is watched; None before it is known."""
        return self._known.get(topic)

    async def _look(self) -> None:
        try:
            while self._watching:
                self._joined.clear()  # who joins from now on is looked for next
                try:
                    await self._look_once()
                except (RedisError, OSError, LookupError) as error:
                    logger.warning("marks can't be looked for (%s); trying again", error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._joined.wait(), self._look_seconds)
        finally:
            self._looking = None

    async def _look_once(self) -> None:
        watching = dict(self._watching)
        wanted = list({topic for topics in watching.values() for topic in topics})
        before, self._known = self._known, await asyncio.to_thread(marks, self._parts, wanted)
        for news, topics in watching.items():
            if any(before.get(topic) != self._known[topic] for topic in topics):
                news.set()
