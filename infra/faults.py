"""Fault points: named places on a move's path where a test can have the process killed.

`MATCHPOST_FAULT=drain.decided:3` kills the process with SIGKILL when it passes that point for the
third time. Without the variable a point does nothing.
"""

import os
import signal
from collections.abc import Callable, Mapping
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
    name, _, count = wanted.partition(":")
    if name not in POINTS or not count.isdecimal():
        raise ValueError(f"{VARIABLE} is {wanted!r}; it takes NAME:COUNT, NAME one of {POINTS}")
    return _Killer(name, int(count))


def _pass(name: str) -> None:
    del name


class _Killer:
    def __init__(self, name: str, count: int) -> None:
        self._name = name
        self._left = count

    def __call__(self, name: str) -> None:
        if name != self._name:
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


point: Final = plan(os.environ)
"""Pass a fault point."""
