"""The time of a server, which is asked for once in a while and counted on by this machine meanwhile.

For pages, which show it and decide nothing by it: a server whose clock is set is seen a while later.
"""

import time
from typing import Any, Final

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
        if self._clock is not None:
            now = self._clock()
            return read_strings((), lambda _: now)
        if self._known is not None:
            passed = time.monotonic() - self._known[0]
            if passed < COUNTED_SECONDS:
                counted = self._known[1] + int(passed * 1000)
                return read_strings((), lambda _: counted)
        return Read(lambda pipe: pipe.time(), self._learn)

    def _learn(self, replies: list[Any]) -> int:
        now = to_ms(replies[0])
        self._known = time.monotonic(), now
        return now
