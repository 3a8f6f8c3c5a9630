"""New events as they are committed: one subscription a process, for all watchers."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from infra.store.async_store import AsyncStore
from services.http.streams.while_watched import Settable, WhileWatched

BLOCK_MS: Final = 5_000

RETRY_SECONDS: Final = 1.0
"""Pause before a failed subscription is repeated."""


class LogTail(WhileWatched[int, Settable]):
    """Follows the logs of all shards while a match is watched, and wakes its watchers.

    A wake-up says only that there may be news: the watcher reads the match's events from where it
    stopped. So nothing is lost when the subscription breaks.
    """

    def __init__(self, store: AsyncStore, again_seconds: float = RETRY_SECONDS) -> None:
        super().__init__("following the logs", again_seconds)
        self._store = store

    @contextmanager
    def watch(self, board: int) -> Iterator[asyncio.Event]:
        """Yield an event that is set whenever the match may have news."""
        news = asyncio.Event()
        with self.notify(board, news):
            yield news

    def notify(self, board: int, news: Settable) -> AbstractContextManager[None]:
        """Set `news` whenever the match may have news."""
        return self._watching(board, news)

    async def events(self, board: int, start: int, idle: float) -> AsyncIterator[tuple[int, bytes]]:
        """Yield a match's events from sequence number `start` on, without end.

        After `idle` seconds without an event it yields 0 and no bytes, so that the caller can check
        whether its client is still connected.
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

    async def _run_once(self) -> None:
        marks = await self._store.log_ends()
        for board in list(self._watchers):  # events may be older than these marks
            self._wake(board)
        while self._watchers:
            for board, _ in await self._store.follow(marks, BLOCK_MS):
                self._wake(board)

    def _wake(self, board: int) -> None:
        for news in self._watchers.get(board, ()):
            news.set()
