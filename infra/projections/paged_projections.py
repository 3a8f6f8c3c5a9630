"""The projections whose lists of finished matches have row pages, and which generations have any."""

from typing import Any, Final

import redis

from infra.projections.finished_matches import PagedHistory
from infra.projections.match_lists import PagedMatchLists
from infra.projections.paged_lists import PagedRows
from infra.redis import keys

PAGED: Final[tuple[PagedRows, ...]] = (PagedMatchLists(), PagedHistory())

KEEP_DAYS: Final = 40
"""How long pages of a replaced generation stay: data that are restored from a copy may still need them."""


def paged_rows(name: str) -> PagedRows | None:
    """Return what a projection says of its pages, None for one without any."""
    return next((one for one in PAGED if one.spec.name == name), None)


class PagedGenerations:
    """The generations of a projection with pages in the object store: a hash, since when each is unused, ms."""

    def __init__(self, client: redis.Redis, name: str) -> None:
        # redis-py types no answer precisely
        self._client: Any = client
        self._key = keys.projection(name, "paged")

    def add(self, generation: int) -> None:
        """Note, before the first page is written, that a generation has pages."""
        # a server without memory refuses each write of this kind
        if not self._client.hexists(self._key, str(generation)):
            self._client.hsetnx(self._key, str(generation), 0)

    def all(self) -> dict[int, int]:
        """Return all, each with the time since which it is unused; 0 for one that was in use."""
        return {int(one): int(since) for one, since in self._client.hgetall(self._key).items()}

    def mark_unused(self, generation: int, now: int) -> None:
        """Note since when a generation is unused."""
        self._client.hset(self._key, str(generation), now)

    def remove(self, generation: int) -> None:
        """Forget a generation, whose pages are deleted."""
        self._client.hdel(self._key, str(generation))
