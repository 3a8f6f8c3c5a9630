"""New events of watched matches: one subscription a process, and one read a match for all watchers.

The news of matches (`infra.store.channels`) says how many events each has. A message may be lost,
and so may the connection: once a second the numbers of all watched matches are read in one round trip.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Protocol, Self

from redis import asyncio as aredis
from redis.exceptions import RedisError

from domain.errors import Refusal
from infra.store.channels import MATCH_NEWS, read_news
from services.http.streams.limits import Settable

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
"""Pause between two looks at the numbers of events: a lost message costs so much."""

RETRY_SECONDS: Final = 0.5
"""Pause before a lost subscription is made again."""

_LISTEN_SECONDS: Final = 5.0

EVENTS_KEPT: Final = 64
"""Newest events of a watched match that are kept for watchers that were slower than others."""


_UNREADABLE: Final = (RedisError, OSError, Refusal)
"""Errors of a read that is repeated: a refusal is of an archive that can't be read now."""


class EventSource(Protocol):
    """The events of matches."""

    async def events(self, board: int, start: int) -> list[bytes]:
        """See `AsyncStore.events`."""
        ...

    async def event_counts(self, boards: Sequence[int]) -> list[int]:
        """See `AsyncStore.event_counts`."""
        ...


class _WatchedMatch:
    """A match, its watchers, and its newest events."""

    def __init__(self, board: int) -> None:
        self.board = board
        self.flags: set[Settable] = set()
        """To set when there is news."""
        self.readers = 0
        """How many of the watchers want the events themselves."""
        self.count = 0
        """Events that the match has, as far as is known; 0 if that is not known."""
        self.events: list[bytes] = []
        """The newest events in order, without a gap."""
        self.last = 0
        """Number of the last of them, or of the last that a watcher has read."""
        self.reading: asyncio.Task[None] | None = None

    def newer(self, start: int) -> list[bytes] | None:
        """Return the events kept from number `start` on; None if older ones are needed."""
        first = self.last - len(self.events) + 1
        return self.events[start - first :] if start >= first else None

    def add(self, events: list[bytes]) -> None:
        """Add events that follow."""
        self.last += len(events)
        self.events = [*self.events, *events][-EVENTS_KEPT:]
        self.count = max(self.count, self.last)

    def wake(self) -> None:
        """Wake all watchers."""
        for flag in self.flags:
            flag.set()


class MatchWatch:
    """The watched matches of a process. Open it in the loop with `async with`."""

    def __init__(
        self,
        source: EventSource,
        client: aredis.Redis,
        look_seconds: float = LOOK_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._source = source
        self._client = client
        self._look_seconds = look_seconds
        self._retry_seconds = retry_seconds
        self._matches: dict[int, _WatchedMatch] = {}
        self._watched = asyncio.Event()
        """Set while matches are watched."""
        self._tasks: list[asyncio.Task[None]] = []
        self._reads: set[asyncio.Task[None]] = set()
        self._closed = False

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(one()) for one in (self._look, self._listen)]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # redis-py may turn the cancellation of a command into an error of the connection
        self._closed = True
        tasks = [*self._tasks, *self._reads]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def notify(self, board: int, news: Settable) -> Iterator[_WatchedMatch]:
        """Set `news` whenever the match may have news."""
        match = self._matches.setdefault(board, _WatchedMatch(board))
        match.flags.add(news)
        self._watched.set()
        try:
            yield match
        finally:
            match.flags.discard(news)
            if not match.flags:
                del self._matches[board]
                if not self._matches:
                    self._watched.clear()

    def count(self, board: int) -> int:
        """Return how many events a watched match has; 0 if that is not known yet."""
        match = self._matches.get(board)
        return match.count if match else 0

    async def events(self, board: int, start: int, idle: float) -> AsyncIterator[tuple[int, bytes]]:
        """Yield a match's events from sequence number `start` on, without end.

        After `idle` seconds without an event it yields 0 and no bytes, so that the caller can check
        whether its client is still connected.
        """
        news = asyncio.Event()
        with self.notify(board, news) as match:
            match.readers += 1
            try:
                for data in await self._history(match, start):
                    yield start, data
                    start += 1
                while True:
                    news.clear()
                    found = match.newer(start)
                    for data in await self._history(match, start) if found is None else found:
                        yield start, data
                        start += 1
                    try:
                        await asyncio.wait_for(news.wait(), idle)
                    except TimeoutError:
                        yield 0, b""
            finally:
                match.readers -= 1

    async def _history(self, match: _WatchedMatch, start: int) -> list[bytes]:
        """Read the events of one watcher that come before those that are kept."""
        found = await self._source.events(match.board, start)
        if not match.events:
            match.last = max(match.last, start + len(found) - 1)
        return found

    def _learn(self, board: int, count: int) -> None:
        """Note how many events a match has; read the new ones for all its watchers."""
        match = self._matches.get(board)
        if match is None or (count <= match.count and not (match.readers and match.last < count)):
            return
        match.count = max(match.count, count)
        if not match.readers:
            match.wake()
        elif match.reading is None:
            match.reading = asyncio.create_task(self._read(match))
            self._reads.add(match.reading)
            match.reading.add_done_callback(self._reads.discard)

    async def _read(self, match: _WatchedMatch) -> None:
        try:
            while match.last < match.count:
                found = await self._source.events(match.board, match.last + 1)
                if not found:
                    break  # the next look tries again
                match.add(found)
                match.wake()
            match.wake()  # a watcher may have read more than this task
        except _UNREADABLE as error:
            logger.warning("events of match %d can't be read (%s)", match.board, error)
        finally:
            match.reading = None

    async def _look(self) -> None:
        """Look at the numbers of events of all watched matches each second; rest while none is watched."""
        while not self._closed:
            await asyncio.sleep(self._look_seconds)
            boards = list(self._matches)
            if not boards:
                await self._watched.wait()
                continue
            try:
                counts = await self._source.event_counts(boards)
            except _UNREADABLE as error:
                logger.warning("watched matches can't be read (%s); trying again", error)
                continue
            for board, count in zip(boards, counts, strict=True):
                self._learn(board, count)

    async def _listen(self) -> None:
        """Hear the news while matches are watched; subscribe again when the connection was lost."""
        while not self._closed:
            await self._watched.wait()
            try:
                async with self._client.pubsub() as pubsub:
                    await self._read_messages(pubsub)
            except (RedisError, OSError) as error:
                logger.warning("the news of matches can't be heard (%s); trying again", error)
                await asyncio.sleep(self._retry_seconds)

    async def _read_messages(self, pubsub: Any) -> None:
        """Take in messages while matches are watched."""
        await pubsub.subscribe(MATCH_NEWS)
        while self._watched.is_set():
            message = await pubsub.get_message(timeout=_LISTEN_SECONDS)
            if message is not None and message["type"] == "message":
                for board, seq in read_news(message["data"]).items():
                    self._learn(board, seq)
