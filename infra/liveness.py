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
from typing import Any, Final, Protocol

from redis._parsers import _HiredisParser

VARIABLE: Final = "MATCHPOST_LIVENESS_FD"
"""Environment variable with the descriptor for the bytes; not a setting."""

BEAT_SECONDS: Final = 1.0

STALL_SECONDS: Final = 10.0
"""How long the main thread may compute before the process falls silent."""

SILENCE_SECONDS: Final = 15.0
"""How long a process may be silent before it counts as hung."""

_SERVING: Final = b"!"

START_SECONDS: Final = 120.0
"""The same for a process that was just started, which takes longer on a busy machine."""


class LivenessListener(Protocol):
    """What this process reports to."""

    def beat(self) -> None:
        """Report that the process makes progress; called about once a second, from another thread."""

    def serving(self) -> None:
        """Report, once, that the process does its work from now on."""


class LivenessMonitor:
    """Progress of the main thread of this process; `timer` returns monotonic seconds."""

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._last = timer()
        self._waits = 0
        self._thread: int | None = None
        """The watched thread; None if nothing listens."""
        self._listeners: tuple[LivenessListener, ...] = ()
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

    def watch(self, *listeners: LivenessListener) -> None:
        """Start to report to these, and to the parent if it listens; call it in the main thread."""
        written = os.environ.pop(VARIABLE, None)
        self._listeners = (*listeners, *([_ParentPipe(int(written))] if written else []))
        if not self._listeners:
            return
        self._thread = threading.get_ident()
        self.step()
        threading.Thread(target=self._report, daemon=True, name="heart").start()

    def serving(self) -> None:
        """Report that the process does its work from now on; only the first call does anything."""
        if not self._is_serving:
            self._is_serving = True
            for listener in self._listeners:
                listener.serving()

    def _report(self) -> None:
        while True:
            if self.is_alive:
                for listener in self._listeners:
                    # one that can't be reached draws its own conclusions; the others still hear
                    with suppress(OSError):
                        listener.beat()
            time.sleep(BEAT_SECONDS)


class _ParentPipe:
    """The child's end of its liveness: a listener to it."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor

    def beat(self) -> None:
        """Write a byte; a full pipe, which has bytes enough, raises `BlockingIOError`."""
        os.write(self._descriptor, b".")

    def serving(self) -> None:
        """Write another byte."""
        os.write(self._descriptor, _SERVING)


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
        self._serves = False

    def child_started(self) -> None:
        """Close the child's end here, after the child was started with it."""
        os.close(self.descriptor)

    @property
    def is_silent(self) -> bool:
        """Return whether no byte came for too long; a process that starts may take longer."""
        self._read()
        limit = SILENCE_SECONDS if self._seen else START_SECONDS
        return time.monotonic() - self._last_sign > limit

    @property
    def is_serving(self) -> bool:
        """Return whether the process has reported that it does its work."""
        self._read()
        return self._serves

    def _read(self) -> None:
        with suppress(BlockingIOError):
            if signs := os.read(self._reader, 65_536):
                self._last_sign, self._seen = time.monotonic(), True
                self._serves |= _SERVING in signs

    def close(self) -> None:
        """Stop listening."""
        os.close(self._reader)
