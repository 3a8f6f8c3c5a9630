"""Limits of CPU time and memory: a faulty game can harm its own match, and never the server.

Inside `LIMITED` a decision has `CPU_SECONDS` of CPU time; then `OutOfTime` is raised in it. That needs
Python to run bytecode. Code that is stuck in C (a regular expression, a huge power) is ended by a second
timer whose signal nobody handles: the process dies, the lane's lease expires, and the next drain counts
the attempt. Neither timer uses SIGALRM, because RQ does.
"""

import resource
import signal
from types import FrameType, TracebackType
from typing import Final

CPU_SECONDS: Final = 1.0

KILL_SECONDS: Final = 2.0
"""CPU time after which the process is killed."""

MEMORY_BYTES: Final = 2 << 30
"""Address space of a command worker."""


class OutOfTime(Exception):  # noqa: N818 - it says what happened
    """A decision took more than `CPU_SECONDS` of CPU time."""


def _out_of_time(signum: int, frame: FrameType | None) -> None:
    del signum, frame
    raise OutOfTime(f"a decision took more than {CPU_SECONDS} s of CPU time")


def install() -> None:
    """Install the handler and the memory limit, once, from the main thread of the process."""
    signal.signal(signal.SIGVTALRM, _out_of_time)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))


class _Limited:
    """Runs the body under the limits; needs `install`."""

    def __enter__(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, KILL_SECONDS)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # the fatal one first: `OutOfTime` may still be raised between the two
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


LIMITED: Final = _Limited()
