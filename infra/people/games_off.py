"""Games that an operator has switched off: no match of them begins any more.

| key | what |
|---|---|
| `{site}:off` | set: keys of these games, also of games that are not installed |

A process asks at most once a second, so a change is in force in all of them after `FRESH_SECONDS`; see `infra.redis.recent`.
"""

import time
from collections.abc import Callable, Collection
from typing import Any

import redis

from infra.redis import keys
from infra.redis.recent import Recent


class GamesOff:
    """The games of a server that are switched off, by key."""

    def __init__(
        self, client: redis.Redis, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._recent = Recent[frozenset[str]](self._read, frozenset(), monotonic)
        self.recent = self._recent.recent
        self.now = self._recent.now

    def _read(self) -> frozenset[str]:
        found: Any = self._client.smembers(keys.GAMES_OFF)
        return frozenset(key.decode() for key in found)

    def change(self, off: Collection[str], on: Collection[str]) -> None:
        """Switch games off and others on, all or none."""
        with self._client.pipeline() as pipe:
            if off:
                pipe.sadd(keys.GAMES_OFF, *off)
            if on:
                pipe.srem(keys.GAMES_OFF, *on)
            pipe.execute()
        self._recent.forget()
