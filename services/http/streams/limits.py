"""Limits on open event streams, and their end with the token or session that opened them.

A background task that runs only while somebody watches.
"""

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import aclosing, contextmanager, suppress
from types import TracebackType
from typing import Final, Generic, Protocol, Self, TypeVar

from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from domain.records import AccountId
from infra.people.rate_limits import SecurityEvent, note_security
from infra.process.machine import open_files
from infra.process.metrics import STREAMS_LIMIT, STREAMS_OPEN

logger = logging.getLogger(__name__)

MAX_PER_NETWORK: Final = 50
"""Open streams of one network; enough for a school class, because a browser has one."""

MAX_PER_ACCOUNT: Final = 50

MAX_STREAMS: Final = 5_000
"""Open streams of this process; fewer if its limit of open files is low."""

Message = TypeVar("Message")


class StreamLimits:
    """The open streams of a process."""

    def __init__(
        self, by_network: int = MAX_PER_NETWORK, by_account: int = MAX_PER_ACCOUNT, in_all: int = 0
    ) -> None:
        self._by_network = by_network
        self._by_account = by_account
        self._most = in_all or min(MAX_STREAMS, max(8, open_files() // 2))
        STREAMS_LIMIT.set(self._most)
        self._networks: Counter[str] = Counter()
        self._accounts: Counter[AccountId] = Counter()

    def check(self, network: str, account: AccountId | None) -> None:
        """Refuse one stream too many: `too-fast`, or `busy` if the whole process has too many."""
        if self._networks.total() >= self._most:
            raise Refusal(Code.BUSY, "the server has as many event streams open as it can")
        if self._networks[network] >= self._by_network:
            note_security(SecurityEvent.LIMIT, network=network, limit="streams")
            raise Refusal(
                Code.TOO_FAST, f"{self._by_network} event streams are open from your address"
            )
        if account is not None and self._accounts[account] >= self._by_account:
            note_security(SecurityEvent.LIMIT, account, network, limit="streams")
            raise Refusal(
                Code.TOO_FAST, f"{self._by_account} event streams of your account are open"
            )

    async def while_allowed(
        self,
        network: str,
        account: AccountId | None,
        messages: AsyncGenerator[Message, None],
        good: Callable[[], Awaitable[bool]],
        seconds: float,
    ) -> AsyncIterator[Message]:
        """Pass messages on while `good` returns True, which is checked before each of them.

        A message comes with each heartbeat at the latest, so a stream ends that soon after its token
        or session, and sends nothing in between; and that soon after `seconds`, because a client that
        is gone without a trace must not keep its place. The others resume by themselves.
        """
        end = time.monotonic() + seconds
        async with aclosing(messages):
            try:
                with self._counted(network, account):
                    async for message in messages:
                        if not await good():
                            return
                        yield message
                        if time.monotonic() >= end:
                            return
            except Refusal:  # several were checked at once, and this one is over the limit
                return
            except (RedisError, OSError) as error:
                logger.warning("an event stream ended: %s", error)

    @contextmanager
    def _counted(self, network: str, account: AccountId | None) -> Iterator[None]:
        self.check(network, account)
        STREAMS_OPEN.inc()
        self._networks[network] += 1
        if account is not None:
            self._accounts[account] += 1
        try:
            yield
        finally:
            STREAMS_OPEN.dec()
            _decrement(self._networks, network)
            if account is not None:
                _decrement(self._accounts, account)


Key = TypeVar("Key")


def _decrement(counter: Counter[Key], key: Key) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]


_Watched = TypeVar("_Watched", bound=Hashable)
Watcher = TypeVar("Watcher")


class Settable(Protocol):
    """A flag that is set when there may be news."""

    def set(self) -> None:
        """See `asyncio.Event.set`."""


class WhileWatched(ABC, Generic[_Watched, Watcher]):
    """Repeats `_run_once` while anything is watched, at once when a watcher joins.

    A run that fails because Redis does, or because lists are being rebuilt, is logged and repeated.
    """

    def __init__(self, task: str, pause: float) -> None:
        self._name = task
        self._pause = pause
        self._watchers: defaultdict[_Watched, set[Watcher]] = defaultdict(set)
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
    def _watching(self, key: _Watched, watcher: Watcher) -> Iterator[None]:
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
