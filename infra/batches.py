"""Micro-batches: what several requests want at one moment is asked of the server together."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Wanted = TypeVar("Wanted")
Found = TypeVar("Found")


AT_ONCE = 2
"""Questions on their way at a time: what comes up while one is answered need not wait for it."""


class Batches(Generic[Wanted, Found]):
    """Asks together for what came up while earlier questions were being answered.

    So a lone request waits for nobody, and many at once share a round trip. What the question
    raises is raised to all who shared it.
    """

    def __init__(
        self, ask: Callable[[Sequence[Wanted]], Awaitable[Sequence[Found]]], most: int = 512
    ) -> None:
        self._ask = ask
        self._most = most
        self._waiting: list[tuple[Wanted, asyncio.Future[Found]]] = []
        self._asking = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, wanted: Wanted) -> Found:
        """Return the answer for one."""
        return await self.ask(wanted)

    def ask(self, wanted: Wanted) -> asyncio.Future[Found]:
        """Ask for one now; its answer is waited for later."""
        future: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        self._waiting.append((wanted, future))
        if self._asking < AT_ONCE:
            self._asking += 1
            task = asyncio.create_task(self._ask_all())
            self._tasks.add(task)  # a loop itself forgets tasks that nobody holds
            task.add_done_callback(self._tasks.discard)
        return future

    async def _ask_all(self) -> None:
        try:
            while self._waiting:
                some, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._ask_some(some)
        finally:
            # in one step with finding that nothing waits: whoever comes now is asked for anew
            self._asking -= 1

    async def _ask_some(self, some: Sequence[tuple[Wanted, asyncio.Future[Found]]]) -> None:
        try:
            found = await self._ask([wanted for wanted, _ in some])
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            for _, future in some:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), one in zip(some, found, strict=True):
            if not future.done():  # who asked may have gone
                future.set_result(one)
