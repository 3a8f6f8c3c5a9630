"""Whether the server's clock runs as time does, or was set.

Each tick compares how far the server's clock has come with a timer of our own that nobody sets. Where the
two differ by more than a minute the clock was set, and nobody knows whether it was right before or is right
now: so for an hour no reminder is sent and no flag falls. That is late for some, and unjust to nobody.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from infra.clock import Clock, ClockNotes

logger = logging.getLogger(__name__)

STEP_MS: Final = 60_000
"""What is more than NTP corrects by slewing, or a busy machine delays an answer."""

NOTED_MS: Final = 30_000
"""How often it is kept what time was seen: each is a sync of the server's."""


class ClockCheck:
    """Watches the server's clock; `timer` gives seconds that only run forwards."""

    def __init__(self, notes: ClockNotes, timer: Callable[[], float] = time.monotonic) -> None:
        self._notes = notes
        self._timer = timer
        self._clock: Clock | None = None
        self._before: tuple[int, float] | None = None
        """The server's time and the timer's at the last look."""
        self._holds = False

    def is_steady(self, now: int) -> bool:
        """Return whether the server's clock, which shows `now`, can be believed; log changes."""
        clock = self._clock or self._notes.read()
        step = self._step(clock, now)
        if step:
            clock = Clock(now, step, now)
            logger.error(
                "ALARM: the clock of the matches' server was set %s by %d s; no reminder is sent and no "
                "flag falls for an hour: look whether it is right now",
                "forward" if step > 0 else "back",
                abs(step) // 1000,
            )
        self._keep(clock, now)
        holds = clock.left(now) > 0
        if self._holds and not holds:
            logger.warning("the server's clock has been steady for an hour; flags fall again")
        self._holds = holds
        return not holds

    def _step(self, clock: Clock, now: int) -> int:
        """Return by how much the clock was set since the last look, in ms; 0 if it was not."""
        timer = self._timer()
        before, self._before = self._before, (now, timer)
        if before is None:
            # nobody knows how long nobody looked, but time never runs back
            step = min(0, now - clock.seen)
        else:
            step = now - before[0] - round((timer - before[1]) * 1000)
        return step if abs(step) > STEP_MS else 0

    def _keep(self, clock: Clock, now: int) -> None:
        if clock.since == now or not 0 <= now - clock.seen < NOTED_MS:
            clock = Clock(now, clock.step, clock.since)
            self._notes.write(clock)
        self._clock = clock
