"""Notes of the server's clock, so that a step of it is detected across a restart.

| key | what |
|---|---|
| `{clock}` | hash: `seen` the last time that was read, `step` by how much it was last set, `since` when; all ms |

A clock that was set back while no process ran is always detected, because it is behind `seen`. One that
was set forward looks like a long pause.
"""

from typing import Any, Final

import msgspec
import redis

from infra.redis import keys
from infra.redis.reads import HashRecord

HOLD_MS: Final = 3_600_000
"""How long the clock is distrusted after a step: time for the operator, less than any deadline."""


class ServerClock(msgspec.Struct, frozen=True):
    """Notes of the server's clock."""

    seen: int = 0
    """The last time that was read; 0 for none."""
    step: int = 0
    """By how much it was last set, forward or (below 0) back; 0 if it never was."""
    since: int = 0
    """The time it was set to."""

    def distrust_ms(self, now: int) -> int:
        """Return for how many ms no flag may fall yet; 0 if the clock is trusted."""
        # a time before `since` means that it was set back once more
        return max(0, HOLD_MS - max(0, now - self.since)) if self.step else 0


_NOTES: Final = HashRecord(ServerClock)


class ServerClockRecord:
    """Stores the notes. Errors of the server pass through."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def read(self) -> ServerClock:
        """Return the notes."""
        (found,) = _NOTES.read_all(self._client, [keys.CLOCK])
        return found or ServerClock()

    def write(self, clock: ServerClock) -> None:
        """Replace the notes."""
        fields: Any = _NOTES.fields(clock)
        self._client.hset(keys.CLOCK, mapping=fields)

    def note_seen(self, now: int) -> None:
        """Note the last time that was read."""
        self._client.hset(keys.CLOCK, "seen", now)
