"""Liveness of child processes: a child writes a byte a second while its main thread makes progress.

Another thread writes, so a process that is stopped, or whose interpreter is blocked, falls silent at
once. Progress is a reply of a server, another decision, or a turn of the event loop within
`STALL_SECONDS`. Time that the main thread waits for a server does not count, because that has its own
limit (`infra.redis.clients`): so a slow or stopped server makes no process that waits for it look hung.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeAlias

from redis._parsers import _HiredisParser

BEAT, SERVING = b".", b"!"
"""Signs: of progress, and that the process does its work from now on."""

Listener: TypeAlias = Callable[[bytes], object]
"""Takes a sign; what `OSError` it raises is its own affair."""

VARIABLE: Final = "MATCHPOST_LIVENESS_FD"
"""Environment variable with the descriptor for the bytes; not a setting."""

BEAT_SECONDS: Final = 1.0

STALL_SECONDS: Final = 10.0
"""How long the main thread may compute before the process falls silent."""

SILENCE_SECONDS: Final = 15.0
"""How long a process may be silent before it counts as hung."""

START_SECONDS: Final = 120.0
"""The same for a process that was just started, which takes longer on a busy machine."""


class LivenessMonitor:
    """Progress of the main thread of this process; `timer` returns monotonic seconds."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._last = timer()
        self._waits = 0
        self._thread: int | None = None
        """The watched thread; None if no parent watches."""
        self._listeners: tuple[Listener, ...] = ()
        self._is_serving = False

    @property
    def is_alive(self) -> bool:
        """Return whether the main thread makes progress, or waits for a server."""
        return self._waits > 0 or self._timer() - self._last < STALL_SECONDS

    def step(self) -> None:
        """Note progress of the main thread."""
        self._last = self._timer()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Mark that the main thread waits for another process; ignored in other threads."""
        if self._thread != threading.get_ident():
            yield
            return
        self._waits += 1
        try:
            yield
        finally:
            self._waits -= 1
            self.step()

    async def watch_loop(self) -> None:
        """Note progress each second while the event loop turns; never returns."""
        while True:
            self.step()
            await asyncio.sleep(BEAT_SECONDS)

    def watch(self, *listeners: Listener) -> None:
        """Start to send signs to these, and to the parent if it listens; call it in the main thread."""
        if (written := os.environ.pop(VARIABLE, None)) is not None:
            descriptor = int(written)
            os.set_inheritable(descriptor, False)
            os.set_blocking(descriptor, False)
            listeners = (*listeners, partial(os.write, descriptor))
        self._listeners = listeners
        self._thread = threading.get_ident()
        self.step()
        threading.Thread(target=self._write_beats, daemon=True, name="heart").start()

    def serving(self) -> None:
        """Report that the process does its work from now on; only the first call does anything."""
        if not self._is_serving:
            self._is_serving = True
            self._send(SERVING)

    def _write_beats(self) -> None:
        while True:
            if self.is_alive:
                self._send(BEAT)
            time.sleep(BEAT_SECONDS)

    def _send(self, sign: bytes) -> None:
        for listener in self._listeners:
            # a full pipe has signs enough
            with suppress(OSError):
                listener(sign)


LIVENESS: Final = LivenessMonitor()
"""This process's."""


class WatchedParser(_HiredisParser):
    """Reads replies of a server, and counts the time that it waits for one as liveness."""

    def read_from_socket(self, *args: Any, **options: Any) -> Any:
        """Wait for more of a reply."""
        with LIVENESS.waiting():
            return super().read_from_socket(*args, **options)  # type: ignore[no-untyped-call]


class LivenessPipe:
    """The parent's end of a child's liveness."""

    def __init__(self) -> None:
        self._reader, self.descriptor = os.pipe()
        """The end that the other process writes to."""
        os.set_blocking(self._reader, False)
        self._last_sign = time.monotonic()
        self._seen = False
        self.is_serving = False
        """Whether the process has given the sign that it does its work, as of the last look at its silence."""

    def child_started(self) -> None:
        """Close the child's end here, after the child was started with it."""
        os.close(self.descriptor)

    @property
    def is_silent(self) -> bool:
        """Return whether no byte came for too long; a process that starts may take longer."""
        if self._read():
            self._last_sign, self._seen = time.monotonic(), True
        limit = SILENCE_SECONDS if self._seen else START_SECONDS
        return time.monotonic() - self._last_sign > limit

    def _read(self) -> bool:
        try:
            signs = os.read(self._reader, 65_536)
        except BlockingIOError:
            return False
        self.is_serving |= SERVING in signs
        return bool(signs)

    def close(self) -> None:
        """Stop listening."""
        os.close(self._reader)
