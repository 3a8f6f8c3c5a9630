"""How far the logs are published, for pages: as of a second ago, because a page must not cost a read for it."""

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

import redis

from infra.store.published_sizes import read_published_sizes

AGE_SECONDS: Final = 1.0


class RecentPublishedSizes:
    """The published sizes of all shards; thread-safe. `client` is of the server of the matches."""

    def __init__(self, client: Callable[[], redis.Redis], shards: Callable[[], int]) -> None:
        self._client = client
        self._shards = shards
        self._lock = Lock()
        self._due = 0.0
        """When they are read again, by the monotonic clock."""
        self._sizes: Sequence[int] = ()

    def of(self, shard: int) -> int:
        """Return how many leaves of a shard's log are published."""
        with self._lock:
            if time.monotonic() >= self._due:
                found = read_published_sizes(self._client(), self._shards())
                self._sizes = [one.size for one in found]
                self._due = time.monotonic() + AGE_SECONDS
            return self._sizes[shard]
