"""Matches that can't be read: noted by the process that found them, shown by the doctor.

| key | what |
|---|---|
| `{damaged}` | hash: board -> the reason, in a sentence |
"""

from collections.abc import Mapping
from typing import Any

import redis

from infra.redis import keys


class DamagedMatches:
    """The damaged matches on a server. Errors of the server pass through; thread-safe."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def note(self, board: int, why: str) -> None:
        """Note that a match can't be read."""
        self._client.hset(keys.DAMAGED, str(board), why[:500])

    def forget(self, board: int) -> None:
        """Remove a match that can be read."""
        self._client.hdel(keys.DAMAGED, str(board))

    def all(self) -> Mapping[int, str]:
        """Return the matches that can't be read, each with its reason."""
        found: Any = self._client.hgetall(keys.DAMAGED)
        return {int(board): why.decode(errors="replace") for board, why in sorted(found.items())}
