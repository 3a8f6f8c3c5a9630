"""Rebuilds a projection beside the live generation, and then promotes the new one.

During the rebuild the live generation is read and fed as usual. The new one replaces it by one move of
the pointer, once it has read as much. A kill at any point leaves a generation that nobody reads, which
the next rebuild removes.
"""

from collections.abc import Sequence
from typing import Final
from uuid import uuid4

import redis

from infra.projections.generations import BusyError, Checkpoint, Generations
from infra.projections.projection import Projection
from infra.projections.reorder import BUFFER
from infra.store.port import Store, Watermark
from workers.projections.feed import Track

RENEW_ROUNDS: Final = 16
"""Rounds between two renewals; a round takes milliseconds."""


class StuckError(Exception):
    """A projection can't be rebuilt from the logs; the message says where it stops."""


class Rebuild:
    """One projection's new generation; `BusyError` if another rebuild is under way."""

    def __init__(self, store: Store, client: redis.Redis, projection: Projection) -> None:
        self._store = store
        self._client = client
        self._generations = Generations(client, projection.spec)
        self.token = uuid4().hex
        self._rounds = 0
        self.goal: Watermark = store.watermark()
        """The ends of the logs at the beginning, up to which it must read."""
        shards = store.layout().shards
        generation = self._generations.begin(self.token, shards)
        zero = Checkpoint.zero(projection.spec, shards)
        self.track = Track(projection, self._generations, generation, zero)

    def keep_alive(self) -> None:
        """Renew from time to time; call it before each round. `BusyError` if another rebuild took over."""
        if self.track.gone:
            raise BusyError(
                f"the rebuild of {self._generations.spec.name} was overtaken by another"
            )
        if self._rounds % RENEW_ROUNDS == 0:
            self.renew()
        self._rounds += 1

    def renew(self) -> None:
        """Renew the claim to the rebuild; `BusyError` if another rebuild took over."""
        self._generations.renew(self.token)

    def check_stuck(self) -> None:
        """Raise `StuckError` if it could not fold something."""
        for stuck in self._generations.failures(self.track.generation).values():
            raise StuckError(f"{self._generations.spec.name} stop at {stuck.what}: {stuck.error}")

    def promote(self) -> bool:
        """Make it the live generation, if it has read enough; return whether it is."""
        if not self._has_read():
            return False
        ends = self._store.watermark().ends
        track = self.track
        return self._generations.promote(track.generation, track.checkpoint, ends, self.token)

    def drop(self) -> None:
        """Delete the new generation."""
        self._generations.drop(self.track.generation, self.token)

    def _has_read(self) -> bool:
        counts = self.track.checkpoint.counts
        if any(count < end for count, end in zip(counts, self.goal.ends, strict=True)):
            return False
        key = self.track.generation.key(BUFFER)
        return not (self.track.waiting and self._client.zcount(key, "-inf", f"({self.goal.at}"))


def leaves_total(rebuilds: Sequence[Rebuild]) -> int:
    """Return how many leaves the rebuilds have to read."""
    return sum(sum(rebuild.goal.ends) for rebuild in rebuilds)


def leaves_read(rebuilds: Sequence[Rebuild]) -> int:
    """Return how many of them are read."""
    return sum(
        min(count, end)
        for rebuild in rebuilds
        for count, end in zip(rebuild.track.checkpoint.counts, rebuild.goal.ends, strict=True)
    )
