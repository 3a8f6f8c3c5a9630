"""How far a follower has read the logs: a count of leaves for each shard, which only moves from where it was read."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import redis

from infra.redis import scripts

_ENCODER: Final = msgspec.msgpack.Encoder()
_COUNTS: Final = msgspec.msgpack.Decoder(tuple[int, ...])


class LogCursor:
    """A cursor in the logs under one key. Errors of the server pass through; several followers do no harm."""

    def __init__(self, client: redis.Redis, key: str) -> None:
        self._client = client
        self._cursor_key = key

    def begin(self, ends: Sequence[int]) -> None:
        """Set the cursor to `ends`, unless it was set before."""
        self._client.set(self._cursor_key, _ENCODER.encode(tuple(ends)), nx=True)

    def cursor(self) -> tuple[int, ...] | None:
        """Return for each shard how many leaves were read; None before `begin`."""
        found: Any = self._client.get(self._cursor_key)
        return None if found is None else _COUNTS.decode(found)

    def advance(self, before: Sequence[int], after: Sequence[int]) -> bool:
        """Move the cursor; False when another follower has moved it."""
        old, new = (_ENCODER.encode(tuple(counts)) for counts in (before, after))
        return scripts.compare_and_set(self._client, self._cursor_key, old, new)
