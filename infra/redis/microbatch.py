"""Micro-batches: requests of several tasks at one moment share a round trip."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

RequestT = TypeVar("RequestT")
ResultT = TypeVar("ResultT")


MOST_IN_FLIGHT = 2
"""Batches in flight at a time: a new request need not wait for the last batch."""


class MicroBatcher(Generic[RequestT, ResultT]):
    """Sends together the requests that come while earlier batches are in flight.

    So a single request never waits, and many at once share a round trip. An exception of the batch
    is raised to all its requests. Where the result is None, the future stays open for others to set.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[RequestT]], Awaitable[Sequence[ResultT | None]]],
        most: int = 512,
    ) -> None:
        self._request = ask
        self._most = most
        self._waiting: list[tuple[RequestT, asyncio.Future[ResultT]]] = []
        self._in_flight = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, wanted: RequestT) -> ResultT:
        """Send one request and return its result."""
        return await self.submit(wanted)

    def submit(
        self, wanted: RequestT, own: asyncio.Future[ResultT] | None = None
    ) -> asyncio.Future[ResultT]:
        """Send one request; the future, the caller's own if there is one, has its result."""
        future = asyncio.get_running_loop().create_future() if own is None else own
        self._waiting.append((wanted, future))
        if self._in_flight < MOST_IN_FLIGHT:
            self._in_flight += 1
            task = asyncio.create_task(self._request_all())
            self._tasks.add(task)  # because a loop keeps no reference to a task
            task.add_done_callback(self._tasks.discard)
        return future

    async def _request_all(self) -> None:
        try:
            while self._waiting:
                some, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._request_some(some)
        finally:
            # no await since the queue was empty: the next request starts another task
            self._in_flight -= 1

    async def _request_some(self, some: Sequence[tuple[RequestT, asyncio.Future[ResultT]]]) -> None:
        try:
            found = await self._request([wanted for wanted, _ in some])
        except Exception as error:  # noqa: BLE001 - raised by the futures
            for _, future in some:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), one in zip(some, found, strict=True):
            if one is not None and not future.done():  # the task may be cancelled
                future.set_result(one)
