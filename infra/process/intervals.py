"""Work at intervals, in a loop that turns more often."""

import time
from collections.abc import Callable
from typing import TypeAlias

Tick: TypeAlias = Callable[[], None]
"""Does what is due; it is called about once a second."""


def every(
    seconds: float,
    work: Callable[[], object],
    timer: Callable[[], float] | None = None,
    *,
    first: float = 0.0,
) -> Tick:
    """Return a function that does the work after `first` seconds, and then at intervals.

    Work that returns a float chooses its next interval. `timer` returns seconds that only run forwards; by default
    it is that of the machine.
    """
    timer = timer or time.monotonic
    due = timer() + first

    def tick() -> None:
        nonlocal due
        if timer() >= due:
            # before the work, which may raise
            due = timer() + seconds
            chosen = work()
            if isinstance(chosen, float):
                due = timer() + chosen

    return tick


def seldom_if_quiet(
    seconds: float,
    work: Tick,
    is_quiet: Callable[[], bool],
    timer: Callable[[], float] = time.monotonic,
) -> Tick:
    """Return a function that does the work each time it is called; while nothing happens, only at intervals."""
    due = timer()

    def tick() -> None:
        nonlocal due
        if timer() >= due or not is_quiet():
            # before the work, which may raise
            due = timer() + seconds
            work()

    return tick
