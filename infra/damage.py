"""Which matches were found that can't be read: noted by who met them, told by the doctor.

| key | what |
|---|---|
| `{damaged}` | hash: board -> what is wrong with it, in a sentence |
"""

from collections.abc import Mapping
from typing import Any

import redis

from infra import keys


class Damage:
    """The notes on a server. Errors of the server pass through; safe for several threads."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def note(self, board: int, why: str) -> None:
        """Note that a match can't be read."""
        self._client.hset(keys.DAMAGED, str(board), why[:500])

    def forget(self, board: int) -> None:
        """Note that a match can be read."""
        self._client.hdel(keys.DAMAGED, str(board))

    def found(self) -> Mapping[int, str]:
        """Return the matches that can't be read, and what is wrong with each."""
        found: Any = self._client.hgetall(keys.DAMAGED)
        return {int(board): why.decode(errors="replace") for board, why in sorted(found.items())}
