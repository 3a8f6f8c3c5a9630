"""Requests in threads of their own, which the program does not wait for when it ends.

asyncio's own threads would keep a player who quits waiting until a slow server has answered.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from threading import Event, Thread
from typing import Final, TypeVar

import httpx

from services.client import Client, ProblemError

T = TypeVar("T")

AGAIN_SECONDS: Final = 1.0
"""Pause before a stream is opened again."""

OVER_SECONDS: Final = 20.0
"""The least time between two streams that the server has ended: a ruling may reopen a match."""


async def in_thread(task: Callable[[], T]) -> T:
    """Return the result of a task that runs in a thread of its own."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(finish: Callable[[], None]) -> None:
        if not future.cancelled():
            finish()

    def work() -> None:
        finish: Callable[[], None]
        try:
            finish = partial(future.set_result, task())
        except Exception as error:  # noqa: BLE001 - it is raised again where the result is awaited
            finish = partial(future.set_exception, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, finish)

    Thread(target=work, daemon=True).start()
    return await future


class Follower:
    """Follows the events of a match, over broken connections, until it is closed.

    Both functions are called in the thread of the follower.
    """

    def __init__(
        self,
        client: Client,
        board: int,
        seq: int,
        on_event: Callable[[int], None],
        on_broken: Callable[[str], None],
    ) -> None:
        """`seq` is the last event that is known; `on_event` gets the seq of each event that comes.

        `on_broken` gets a sentence whenever the connection breaks or can't be made. The last known
        event is read again after that, so that `on_event` shows that the connection is back.
        """
        self._client = client
        self._board = board
        self._seq = max(1, seq)
        self._on_event = on_event
        self._on_broken = on_broken
        self._closed = Event()
        Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        """Follow no longer."""
        self._closed.set()

    def _run(self) -> None:
        pause = 0.0
        while not self._closed.wait(pause):
            opened = time.monotonic()
            try:
                for event in self._client.events(self._board, self._seq, self._closed.is_set):
                    self._seq = event["seq"]
                    self._on_event(self._seq)
                pause = max(AGAIN_SECONDS, OVER_SECONDS - (time.monotonic() - opened))
            except ProblemError as problem:
                if problem.code == "beyond-end":  # the server was restored from a backup
                    self._seq = 1
                self._broken(problem.detail)
                pause = AGAIN_SECONDS
            except httpx.HTTPError as error:
                self._broken(f"{type(error).__name__}: {error}")
                pause = AGAIN_SECONDS

    def _broken(self, reason: str) -> None:
        if not self._closed.is_set():
            self._on_broken(reason)
