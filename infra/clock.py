"""What is kept of the server's clock, so that a step of it is seen across a restart.

| key | what |
|---|---|
| `{clock}` | hash: `seen` the time when it was last looked at, `step` by how much it was last set, `since` when; all ms |

A clock that was set back while nobody looked is seen for certain: it is behind what was seen. One that
was set forward can't be told from a long rest.
"""

from typing import Any, Final

import msgspec
import redis

from infra import keys

HOLD_MS: Final = 3_600_000
"""How long no clock is believed after a step: time to look at it, and less than any deadline."""


class Clock(msgspec.Struct, frozen=True):
    """What is known of the server's clock."""

    seen: int = 0
    """The time when it was last looked at; 0 when it never was."""
    step: int = 0
    """By how much it was last set, forward or (below 0) back; 0 when it never was."""
    since: int = 0
    """The time it was set to then."""

    def left(self, now: int) -> int:
        """Return for how many ms no flag may fall yet, 0 where the clock is believed."""
        # before `since` it was set back once more, and nobody has looked since
        return max(0, HOLD_MS - max(0, now - self.since)) if self.step else 0


class ClockNotes:
    """Keeps it. Errors of the server pass through."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def read(self) -> Clock:
        """Return what is known."""
        found: Any = self._client.hgetall(keys.CLOCK)
        return Clock(**{name.decode(): int(value) for name, value in found.items()})

    def write(self, clock: Clock) -> None:
        """Keep what is known."""
        known: Any = msgspec.structs.asdict(clock)
        self._client.hset(keys.CLOCK, mapping=known)
