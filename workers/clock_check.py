"""Detects that the server's clock was set.

Each tick compares how far the server's clock has come with a timer of this process, which nobody sets.
If they differ by more than a minute, the clock was set, and whether it was right before or is right now
is unknown: so for an hour no reminder is sent and no flag falls. That makes some late, and is
unfair to nobody.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from infra.store.server_clock import ServerClock, ServerClockRecord

logger = logging.getLogger(__name__)

STEP_MS: Final = 60_000
"""More than NTP corrects by slewing, and more than a busy machine delays an answer."""

NOTE_MS: Final = 300_000
"""How often the time seen last is stored while the check goes on; each time is a sync of the server."""


class ClockCheck:
    """Watches the server's clock; `timer` returns seconds that only run forwards."""

    def __init__(
        self, notes: ServerClockRecord, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._notes = notes
        self._timer = timer
        self._clock: ServerClock | None = None
        self._before: tuple[int, float] | None = None
        """The server's time and the timer's at the last tick."""
        self._distrusted = False

    def is_steady(self, now: int) -> bool:
        """Return whether the server's clock, which shows `now`, can be trusted; log changes."""
        clock = self._clock or self._notes.read()
        step = self._step(clock, now)
        if step:
            clock = ServerClock(now, step, now)
            logger.error(
                "ALARM: the clock of the matches' server was set %s by %d s; no reminder is sent and no "
                "flag falls for an hour: check whether it is right now",
                "forward" if step > 0 else "back",
                abs(step) // 1000,
            )
        self._store_time(clock, now)
        distrusted = clock.distrust_ms(now) > 0
        if self._distrusted and not distrusted:
            logger.warning("the server's clock has been steady for an hour; flags fall again")
        self._distrusted = distrusted
        return not distrusted

    def close(self) -> None:
        """Store the time seen last, so that a step is found by it however long nobody looks."""
        if self._clock and self._before:
            self._notes.note_seen(self._before[0])

    def _step(self, clock: ServerClock, now: int) -> int:
        """Return by how many ms the clock was set since the last tick; 0 if it was not."""
        timer = self._timer()
        before, self._before = self._before, (now, timer)
        if before is None:
            # how long nobody looked is unknown, but time never runs back
            step = min(0, now - clock.seen)
        else:
            step = now - before[0] - round((timer - before[1]) * 1000)
        return step if abs(step) > STEP_MS else 0

    def _store_time(self, clock: ServerClock, now: int) -> None:
        stepped = clock.since == now
        if not stepped and not _is_recent(clock, now):
            # another scheduler may have stored a step meanwhile, or the time
            clock = self._notes.read()
        if stepped or not _is_recent(clock, now):
            clock = ServerClock(now, clock.step, clock.since)
            if stepped:
                self._notes.write(clock)
            else:
                self._notes.note_seen(now)
        self._clock = clock


def _is_recent(clock: ServerClock, now: int) -> bool:
    return 0 <= now - clock.seen < NOTE_MS
