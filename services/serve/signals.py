"""Signals for a single-threaded loop: they are counted, and interrupt its wait.

Functions that are called at intervals, by `serve` and by the scheduler.
"""

import logging
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Final, Self

SAME_REQUEST_SECONDS: Final = 0.5
"""Seconds within which several signals count as one request to stop."""

_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Signals:
    """Count stop signals while entered; a signal or an exited child interrupts `wait`.

    The handler calls `on_stop`, so that a blocking step can be cut short. A SIGHUP that was ignored
    when the program started (`nohup`) stays ignored. Main thread only.
    """

    def __init__(self, on_stop: Callable[[], None]) -> None:
        self.stops = 0
        """Requests to stop so far."""
        self.asks_replacement = False
        """Whether this process was asked by SIGUSR2 to replace itself; its reader resets it."""
        self._on_stop = on_stop
        self._last = 0.0

    def __enter__(self) -> Self:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._old_wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        handlers = {
            **dict.fromkeys(_STOP_SIGNALS, self._stop),
            signal.SIGCHLD: self._child,
            signal.SIGUSR2: self._replace,
        }
        kept = {number: signal.getsignal(number) for number in handlers}
        self._old = {
            number: handler
            for number, handler in kept.items()
            if not (number == signal.SIGHUP and handler is signal.SIG_IGN)
        }
        for number in self._old:
            signal.signal(number, handlers[number])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wakeup)
        self._reader.close()
        self._writer.close()

    def wait(self, seconds: float) -> None:
        """Wait until a signal arrives, or `seconds` pass; return at once if one came since the last wait."""
        ready, _, _ = select.select([self._reader], [], [], max(0.0, seconds))
        if ready:
            self._reader.recv(4096)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        # a terminal, `make` or `timeout` may signal both the group and this process: one request
        if self.stops and now - self._last < SAME_REQUEST_SECONDS:
            return
        self._last = now
        self.stops += 1
        self._on_stop()

    def _replace(self, _number: int, _frame: FrameType | None) -> None:
        self.asks_replacement = True

    def _child(self, _number: int, _frame: FrameType | None) -> None:
        """Do nothing: the handler exists so that an exited child wakes the loop."""


logger = logging.getLogger(__name__)

_MAX_DELAY: Final = 30.0  # seconds; the longest delay of a failing tick


class Tick:
    """A function called at intervals, which grow while it fails."""

    def __init__(self, function: Callable[[], None], interval: float) -> None:
        self.due = 0.0  # by the monotonic clock
        self._function = function
        self._interval = self._delay = interval

    def call_if_due(self) -> None:
        """Call it if it is due, and schedule the next call."""
        if time.monotonic() < self.due:
            return
        try:
            self._function()
        except Exception:
            self._delay = min(2 * self._delay, max(_MAX_DELAY, self._interval))
            logger.exception("the tick failed; next try in %g s", self._delay)
        else:
            self._delay = self._interval
        self.due = time.monotonic() + self._delay


def call_all(ticks: Sequence[Callable[[], None]]) -> None:
    """Call all in order; the first that fails ends it."""
    for tick in ticks:
        tick()
