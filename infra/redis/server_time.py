"""The time of a server, which is asked for once in a while and counted on by this machine meanwhile.

For pages, which show it, and for the expiry of sessions and tokens, which live for days: a server whose clock
is set is seen a while later. No move is decided by it.
"""

import time
from typing import Any, Final

import redis

from infra.redis.clients import Clock, to_ms
from infra.redis.reads import Read, read_strings

COUNTED_SECONDS: Final = 10.0
"""How long this machine counts on before it asks again."""


class ServerTime:
    """The time of one server, for many reads; thread-safe. `clock` replaces it in tests."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._known: tuple[float, int] | None = None
        """When the time was read, by the monotonic clock, and which it was, ms."""

    def read(self) -> Read[int]:
        """Return the read of the time in ms; it has no command if the time was asked for recently."""
        now = self.counted()
        if now is not None:
            return read_strings((), lambda _: now)
        return Read(lambda pipe: pipe.time(), lambda replies: self.learn(replies[0]))

    def counted(self) -> int | None:
        """Return the time in ms, if it was asked for recently; else the server has to be asked."""
        if self._clock is not None:
            return self._clock()
        if self._known is not None:
            passed = time.monotonic() - self._known[0]
            if passed < COUNTED_SECONDS:
                return self._known[1] + int(passed * 1000)
        return None

    def now(self, client: redis.Redis) -> int:
        """Return the time in ms; ask the server if that was not done recently."""
        known = self.counted()
        return self.learn(client.time()) if known is None else known

    def learn(self, reply: Any) -> int:
        """Return the time in a reply to TIME, and count on from there."""
        now = to_ms(reply)
        self._known = time.monotonic(), now
        return now
