"""Limits around code that may be wrong: one decision can cost its match, never the server.

Inside `LIMITED` a decision has `CPU_SECONDS` of the process's own time; then `OutOfTime` is
raised in it. That needs Python to run bytecode; code stuck in C (a regular expression, a huge
power) is ended by a second timer whose signal nobody handles: the process dies, the lane's lease
expires, and the next drain counts the attempt. SIGALRM is RQ's, so neither timer uses it.
"""

import resource
import signal
from types import FrameType, TracebackType
from typing import Final

CPU_SECONDS: Final = 1.0
LAST_SECONDS: Final = 2.0
MEMORY_BYTES: Final = 2 << 30
"""Address space of a command worker."""


class OutOfTime(Exception):  # noqa: N818 - it says what happened
    """A decision took more than `CPU_SECONDS` of CPU time."""


def _out_of_time(signum: int, frame: FrameType | None) -> None:
    del signum, frame
    raise OutOfTime(f"a decision took more than {CPU_SECONDS} s of CPU time")


def install() -> None:
    """Prepare the process, once, from its main thread."""
    signal.signal(signal.SIGVTALRM, _out_of_time)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))


class _Limited:
    """Run the body under the limits; needs `install`."""

    def __enter__(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, LAST_SECONDS)

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
