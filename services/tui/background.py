"""Requests in threads of their own, which the program does not wait for when it ends.

asyncio's own threads would keep a player who quits waiting until a slow server has answered.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from threading import Event, Thread
from typing import Final, TypeVar

import httpx

from services.client import Client, ProblemError
from services.client.stream_messages import read_messages

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
        """`seq` is the last event that is known.

        `on_event` gets the number of each event that comes, and that of the last one whenever the
        connection has been made. `on_broken` gets the reason when it breaks or can't be made.
        """
        self._client = client
        self._board = board
        self._seq = seq
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
                self._read()
                pause = max(AGAIN_SECONDS, OVER_SECONDS - (time.monotonic() - opened))
            except ProblemError as problem:
                if problem.code == "beyond-end":  # the server was restored from a backup
                    self._seq = 0
                self._broken(problem.detail)
                pause = AGAIN_SECONDS
            except httpx.HTTPError as error:
                self._broken(str(error) or type(error).__name__)
                pause = AGAIN_SECONDS

    def _read(self) -> None:
        """Read one stream until it ends, or until the first line after `close`."""
        path = f"/api/matches/{self._board}/events"
        with self._client.open_stream(path, str(self._seq)) as response:
            self._on_event(self._seq)
            lines = takewhile(lambda _: not self._closed.is_set(), response.iter_lines())
            for seq, _ in read_messages(lines):
                self._seq = int(seq)
                self._on_event(self._seq)

    def _broken(self, reason: str) -> None:
        if not self._closed.is_set():
            self._on_broken(reason)
