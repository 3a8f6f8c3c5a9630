"""Limits of CPU time and memory: a faulty game can harm its own match, and never the server.

Inside `LIMITED` a decision has `CPU_SECONDS` of CPU time; then `OutOfTime` is raised in it. That needs
Python to run bytecode. Code that is stuck in C (a regular expression, a huge power) is ended by a second
timer whose signal nobody handles: the process dies, the lane's lease expires, and the next drain counts
the attempt. Neither timer uses SIGALRM, because RQ does.

The timers run as long as decisions follow each other, because setting them for each costs more than
many decisions do. The first is repeated: its handler looks when the decision in hand began, and sets
the second back as long as none has taken too long.
"""

import atexit
import resource
import signal
from types import FrameType, TracebackType
from typing import Final

CPU_SECONDS: Final = 1.0

KILL_SECONDS: Final = 2.0
"""CPU time without bytecode, or after `OutOfTime` was raised in vain, until the process is killed."""

TICK_SECONDS: Final = 0.25
"""CPU time between two looks at the decision in hand, which may run over by as much."""

_LIMIT_TICKS: Final = int(CPU_SECONDS / TICK_SECONDS)

MEMORY_BYTES: Final = 2 << 30
"""Address space of a command worker."""


class OutOfTime(Exception):  # noqa: N818 - it says what happened
    """A decision took more than `CPU_SECONDS` of CPU time."""


class _Limited:
    """Runs the body under the limits; without `install` it only runs it."""

    def __init__(self) -> None:
        self._installed = False
        self._running = False
        """Whether the timers run."""
        self._deciding = False
        self._raised = False
        """Whether `OutOfTime` was raised in the decision in hand."""
        self._ticks = 0
        self._began = 0
        """The tick at which the last decision began."""

    def __enter__(self) -> None:
        self._began = self._ticks
        self._raised = False
        self._deciding = True
        if self._installed and not self._running:
            self._running = True
            signal.setitimer(signal.ITIMER_PROF, KILL_SECONDS)
            signal.setitimer(signal.ITIMER_VIRTUAL, TICK_SECONDS, TICK_SECONDS)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._deciding = False

    def leave(self) -> None:
        """End the decision in hand; only needed if `OutOfTime` may have been raised on leaving it."""
        self._deciding = False

    def install(self) -> None:
        """Handle the timers' signals from now on; from the main thread of the process."""
        signal.signal(signal.SIGVTALRM, self._tick)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        # Python drops its handlers at its end, and a timer that runs then would kill the process
        atexit.register(self._stop)
        self._installed = True

    def _tick(self, signum: int, frame: FrameType | None) -> None:
        del signum, frame
        self._ticks += 1
        took = self._ticks - self._began
        if self._deciding and took > _LIMIT_TICKS:
            if not self._raised:
                self._raised = True
                raise OutOfTime(f"a decision took more than {CPU_SECONDS} s of CPU time")
        elif self._deciding or took <= 1:
            signal.setitimer(signal.ITIMER_PROF, KILL_SECONDS)
        else:
            self._stop()

    def _stop(self) -> None:
        # the fatal one first
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        self._running = False


LIMITED: Final = _Limited()


def install() -> None:
    """Install the limits of time and memory, once, from the main thread of the process."""
    LIMITED.install()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))
