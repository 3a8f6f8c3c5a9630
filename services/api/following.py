"""New events as they are committed: one subscription a process, for all who watch."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Final, Protocol, Self

from redis.exceptions import RedisError

from infra.store.async_store import AsyncStore

logger = logging.getLogger(__name__)

BLOCK_MS: Final = 5_000

AGAIN_SECONDS: Final = 1.0
"""How long it waits when the logs can't be followed."""


class Settable(Protocol):
    """What is set when there may be news."""

    def set(self) -> None:
        """See `asyncio.Event.set`."""


class Follower:
    """Follows the logs of all shards while somebody watches, and wakes who watches a match.

    A wake-up says that there may be news, no more: whoever is woken reads the match's events from
    where they stand. So nothing is lost where the subscription breaks.
    """

    def __init__(self, store: AsyncStore, again_seconds: float = AGAIN_SECONDS) -> None:
        self._store = store
        self._again_seconds = again_seconds
        self._watching: dict[int, set[Settable]] = defaultdict(set)
        self._following: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._following is not None:
            self._following.cancel()
            with suppress(asyncio.CancelledError):
                await self._following

    @contextmanager
    def watch(self, board: int) -> Iterator[asyncio.Event]:
        """Return an event that is set whenever the match may have news."""
        news = asyncio.Event()
        with self.tell(board, news):
            yield news

    @contextmanager
    def tell(self, board: int, news: Settable) -> Iterator[None]:
        """Set `news` whenever the match may have news."""
        self._watching[board].add(news)
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            self._watching[board].discard(news)
            if not self._watching[board]:
                del self._watching[board]

    async def events(self, board: int, start: int, idle: float) -> AsyncIterator[tuple[int, bytes]]:
        """Return a match's events from sequence number `start` on, for ever.

        After `idle` seconds without one it gives 0 and nothing, so that the caller can see whether
        anybody still listens.
        """
        with self.watch(board) as news:
            while True:
                news.clear()
                for data in await self._store.events(board, start):
                    yield start, data
                    start += 1
                try:
                    await asyncio.wait_for(news.wait(), idle)
                except TimeoutError:
                    yield 0, b""

    async def _follow(self) -> None:
        try:
            while self._watching:
                try:
                    await self._follow_on()
                except (RedisError, OSError) as error:
                    logger.warning("the logs can't be followed (%s); trying again", error)
                    await asyncio.sleep(self._again_seconds)
        finally:
            self._following = None  # whoever watches next begins anew

    async def _follow_on(self) -> None:
        marks = await self._store.log_ends()
        self._wake_all()  # what came before these marks
        while self._watching:
            for board, _ in await self._store.follow(marks, BLOCK_MS):
                self._wake(board)

    def _wake(self, board: int) -> None:
        for news in self._watching.get(board, ()):
            news.set()

    def _wake_all(self) -> None:
        for board in list(self._watching):
            self._wake(board)
