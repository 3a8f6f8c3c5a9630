"""A background task that runs only while somebody watches."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

Key = TypeVar("Key", bound=Hashable)
Watcher = TypeVar("Watcher")


class Settable(Protocol):
    """A flag that is set when there may be news."""

    def set(self) -> None:
        """See `asyncio.Event.set`."""


class WhileWatched(ABC, Generic[Key, Watcher]):
    """Repeats `_run_once` while anything is watched, at once when a watcher joins.

    A run that fails because Redis does, or because lists are being rebuilt, is logged and repeated.
    """

    def __init__(self, task: str, pause: float) -> None:
        self._name = task
        self._pause = pause
        self._watchers: defaultdict[Key, set[Watcher]] = defaultdict(set)
        self._joined = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    @contextmanager
    def _watching(self, key: Key, watcher: Watcher) -> Iterator[None]:
        """Add a watcher of a key while entered, and start the task if it does not run."""
        self._watchers[key].add(watcher)
        self._joined.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self._watchers[key].discard(watcher)
            if not self._watchers[key]:
                del self._watchers[key]

    async def _run(self) -> None:
        try:
            while self._watchers:
                self._joined.clear()  # a watcher that joins from now on ends the pause
                try:
                    await self._run_once()
                except (RedisError, OSError, LookupError) as error:
                    logger.warning("%s failed (%s); trying again", self._name, error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._joined.wait(), self._pause)
        finally:
            self._task = None  # the next watcher starts another

    @abstractmethod
    async def _run_once(self) -> None:
        """Wake the watchers for which there is news."""
