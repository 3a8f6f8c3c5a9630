"""Signs of life: a process that is watched writes a byte a second, as long as it gets on.

A thread writes, so a process that is stopped, or in which no Python runs any more, falls silent at
once. It writes as long as the main thread is seen to get on: it had an answer of a server, began another
decision, or its event loop turned, within `STALL_SECONDS`. While the main thread waits for a server, it
is that server's time, which has a limit of its own (`infra.clients`): so one that is slow, or was stopped,
makes nobody look hung who waits for it.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from redis._parsers import _HiredisParser

VARIABLE: Final = "MATCHPOST_LIVENESS_FD"
"""Environment variable with the descriptor that the bytes are written to; no setting."""

BEAT_SECONDS: Final = 1.0

STALL_SECONDS: Final = 10.0
"""How long the main thread may do anything by itself before the process falls silent."""

SILENCE_SECONDS: Final = 15.0
"""How long a process may be silent before it counts as hung."""

START_SECONDS: Final = 120.0
"""The same for one that has just been started: on a busy machine that takes a while."""


class Heart:
    """What is known of the main thread of a process; `timer` gives seconds that only run forwards."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._last = timer()
        self._waits = 0
        self._thread: int | None = None
        """The thread that is watched; None where nobody watches."""

    @property
    def beats(self) -> bool:
        """Whether the main thread gets on, or waits for a server."""
        return self._waits > 0 or self._timer() - self._last < STALL_SECONDS

    def step(self) -> None:
        """Note that the main thread gets on."""
        self._last = self._timer()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Inside, the main thread waits for somebody else; other threads count for nothing."""
        if self._thread != threading.get_ident():
            yield
            return
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            self.step()

    async def turn(self) -> None:
        """Note again and again that the event loop turns; never returns."""
        while True:
            self.step()
            await asyncio.sleep(BEAT_SECONDS)

    def watch(self) -> None:
        """Return signs of life, if who started this process listens; call it in the main thread."""
        written = os.environ.pop(VARIABLE, None)
        if written is None:
            return
        descriptor = int(written)
        os.set_inheritable(descriptor, False)
        os.set_blocking(descriptor, False)
        self._thread = threading.get_ident()
        self.step()
        threading.Thread(target=self._beat, args=(descriptor,), daemon=True, name="heart").start()

    def _beat(self, descriptor: int) -> None:
        while True:
            if self.beats:
                # a pipe that is full has signs enough in it
                with suppress(BlockingIOError):
                    os.write(descriptor, b".")
            time.sleep(BEAT_SECONDS)


HEART: Final = Heart()
"""This process's."""


class WatchedParser(_HiredisParser):
    """Reads answers of a server; while it waits for one, nobody takes the process for hung."""

    def read_from_socket(self, *args: Any, **options: Any) -> Any:
        """Wait for more of an answer."""
        with HEART.waiting():
            return super().read_from_socket(*args, **options)  # type: ignore[no-untyped-call]


class Pulse:
    """The signs of life of another process, as who started it hears them."""

    def __init__(self) -> None:
        self._reader, self.descriptor = os.pipe()
        """The end that the other process writes to."""
        os.set_blocking(self._reader, False)
        self._heard = time.monotonic()
        self._begun = False

    def started(self) -> None:
        """Leave the writing to the other process, which has its end now."""
        os.close(self.descriptor)

    @property
    def is_silent(self) -> bool:
        """Whether there was no sign for too long; a process that starts may take longer."""
        if self._hear():
            self._heard, self._begun = time.monotonic(), True
        limit = SILENCE_SECONDS if self._begun else START_SECONDS
        return time.monotonic() - self._heard > limit

    def _hear(self) -> bool:
        try:
            return bool(os.read(self._reader, 65_536))
        except BlockingIOError:
            return False

    def close(self) -> None:
        """Stop listening."""
        os.close(self._reader)
