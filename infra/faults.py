"""Fault points: named places on a move's path where a test can have the process killed.

`MATCHPOST_FAULT=drain.decided:3` kills the process with SIGKILL when it passes that point for the
third time. With a file's path after one more colon the process dies only if it can remove that
file, so that its replacement lives. Without the variable a point does nothing.
"""

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

VARIABLE: Final = "MATCHPOST_FAULT"

POINTS: Final = (
    "submit.queued",
    "drain.taken",
    "drain.read",
    "drain.loaded",
    "drain.decided",
    "drain.committed",
    "drain.announced",
    "drain.left",
)
"""In the order in which a move passes them."""


def plan(environ: Mapping[str, str]) -> Callable[[str], None]:
    """Give the function for points; `ValueError` when the variable makes no sense."""
    wanted = environ.get(VARIABLE, "")
    if not wanted:
        return _pass
    name, _, rest = wanted.partition(":")
    count, _, once = rest.partition(":")
    if name not in POINTS or not count.isdecimal():
        raise ValueError(
            f"{VARIABLE} is {wanted!r}; it takes NAME:COUNT or NAME:COUNT:FILE, "
            f"NAME one of {', '.join(POINTS)}"
        )
    return _Killer(name, int(count), Path(once) if once else None)


def _pass(name: str) -> None:
    del name


class _Killer:
    def __init__(self, name: str, count: int, once: Path | None) -> None:
        self._name = name
        self._left = count
        self._once = once

    def __call__(self, name: str) -> None:
        if name != self._name:
            return
        self._left -= 1
        if self._left == 0 and self._armed():
            os.kill(os.getpid(), signal.SIGKILL)

    def _armed(self) -> bool:
        if self._once is None:
            return True
        try:
            self._once.unlink()
        except FileNotFoundError:
            return False
        return True


point: Final = plan(os.environ)
"""Pass a fault point."""
