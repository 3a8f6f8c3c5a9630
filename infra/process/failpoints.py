"""Fault points: named places on a move's path at which a test can kill the process.

`MATCHPOST_FAULT=drain.decided:3` kills the process with SIGKILL when it passes that point for the
third time. With a file's path after one more colon the process dies at that or any later pass if it
can remove the file, so its replacement survives until the file exists again. With `:STOP` after the
file it is stopped instead, until it gets SIGCONT. Several settings are separated by commas. Without
the variable a point does nothing.
"""

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "MATCHPOST_FAULT"

FAILPOINTS: Final = (
    "submit.ready",
    "submit.queued",
    "wake.wanted",
    "submit.woken",
    "drain.started",
    "drain.taken",
    "drain.read",
    "drain.counted",
    "drain.loaded",
    "drain.decided",
    "commit.answered",
    "drain.committed",
    "drain.announced",
    "drain.released",
    "drain.left",
    "submit.heard",
    "keeper.ticked",
    "keeper.found",
    "keeper.sent",
    "tournament.ready",
    "tournament.sent",
    "analysis.position",
    "publish.started",
    "publish.taken",
    "publish.trimmed",
    "publish.read",
    "publish.created",
    "publish.written",
    "publish.signed",
    "publish.deleted",
    "publish.stored",
    "publish.recorded",
    "publish.released",
    "publish.left",
    "restore.closed",
    "restore.written",
    "restore.opened",
    "retire.started",
    "retire.taken",
    "retire.written",
    "retire.removed",
    "retire.listed",
    "retire.released",
    "retire.left",
    "scrub.started",
    "scrub.taken",
    "scrub.released",
    "scrub.left",
    "robot.chosen",
    "robot.sent",
    "serve.loaded",
    "serve.started",
    "move.written",
    "move.copied",
    "move.marked",
)
"""In the order in which a move passes them; then those of the scheduler, of the publisher, of restoring, of
retirement, of the scrubber, of robots, of the start and of a move to another server."""

Failpoint = Callable[[str], None]


def failpoint_of(environ: Mapping[str, str]) -> Failpoint:
    """Return the function that passes a point; `ValueError` for a bad variable."""
    wanted = environ.get(VARIABLE, "")
    if not wanted:
        return _do_nothing
    faults = [_read(setting) for setting in wanted.split(",")]
    return faults[0] if len(faults) == 1 else _AllFaults(faults)


def _read(setting: str) -> "_Fault":
    """Read one setting."""
    name, count, once, what = (*setting.split(":"), "", "", "")[:4]
    if (
        name not in FAILPOINTS
        or not count.isdecimal()
        or setting.count(":") > 3  # noqa: PLR2004 - count, file, STOP
        or what not in ("", "STOP")
    ):
        raise ValueError(
            f"{VARIABLE} has {setting!r}; it takes NAME:COUNT, NAME:COUNT:FILE or "
            f"NAME:COUNT:FILE:STOP, NAME one of {', '.join(FAILPOINTS)}"
        )
    number = signal.SIGSTOP if what else signal.SIGKILL
    return _Fault(name, int(count), Path(once) if once else None, number)


def _do_nothing(name: str) -> None:
    del name


class _Fault:
    def __init__(self, name: str, count: int, once: Path | None, number: signal.Signals) -> None:
        self._name = name
        self._passes_left = count
        self._only_once = once
        self._signal = number

    def __call__(self, name: str) -> None:
        if name != self._name:
            return
        self._passes_left -= 1
        if self._armed():
            os.kill(os.getpid(), self._signal)

    def _armed(self) -> bool:
        if self._only_once is None:
            return self._passes_left == 0
        if self._passes_left > 0:
            return False
        try:
            self._only_once.unlink()
        except FileNotFoundError:
            return False
        return True


class _AllFaults:
    def __init__(self, faults: list[_Fault]) -> None:
        self._faults = faults

    def __call__(self, name: str) -> None:
        for fault in self._faults:
            fault(name)


failpoint: Final = failpoint_of(os.environ)
"""Pass a fault point."""
