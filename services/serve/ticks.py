"""Functions that are called at intervals, by `serve` and by the scheduler."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

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
