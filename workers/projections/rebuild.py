"""Makes a projection anew, beside the live one, and puts it in its place.

While it reads, the live generation is read and fed as ever. The new one takes its place by moving the
pointer, once it has read as much. Killed at any point it leaves a generation that nobody reads,
which the next builder takes away.
"""

from collections.abc import Sequence
from typing import Final
from uuid import uuid4

import redis

from infra.projections.pending import PENDING
from infra.projections.shelf import BusyError, Checkpoint, Shelf
from infra.store.port import Store, Watermark
from workers.projections.feed import Track
from workers.projections.projection import Projection

RENEW_ROUNDS: Final = 16
"""Rounds between two signs of life; a round takes milliseconds."""


class StuckError(Exception):
    """A projection can't be made from what the logs have; the message says where it stops."""


class Rebuild:
    """One projection's new generation; begins when it is made, `BusyError` when it can't."""

    def __init__(self, store: Store, client: redis.Redis, projection: Projection) -> None:
        self._store = store
        self._client = client
        self._shelf = Shelf(client, projection.spec)
        self.token = uuid4().hex
        self._rounds = 0
        self.goal: Watermark = store.watermark()
        """What there was when it began; it must have read that much."""
        shards = store.shape().shards
        generation = self._shelf.begin(self.token, shards)
        zero = Checkpoint.zero(projection.spec, shards)
        self.track = Track(projection, self._shelf, generation, zero)

    def keep_alive(self) -> None:
        """Return a sign of life, before each round; `BusyError` when it is given up."""
        if self.track.gone:
            raise BusyError(f"the rebuild of {self._shelf.spec.name} was overtaken by another")
        if self._rounds % RENEW_ROUNDS == 0:
            self.renew()
        self._rounds += 1

    def renew(self) -> None:
        """Return a sign of life; `BusyError` when it is given up."""
        self._shelf.renew(self.token)

    def check_stuck(self) -> None:
        """Raise `StuckError` when it could not take something in."""
        for stuck in self._shelf.stuck(self.track.generation).values():
            raise StuckError(f"{self._shelf.spec.name} stop at {stuck.what}: {stuck.error}")

    def promote(self) -> bool:
        """Put it in the live one's place, if it has read enough; tell whether it is there."""
        if not self._has_read():
            return False
        ends = self._store.watermark().ends
        track = self.track
        return self._shelf.swap(track.generation, track.checkpoint, ends, self.token)

    def drop(self) -> None:
        """Take it away."""
        self._shelf.drop(self.track.generation, self.token)

    def _has_read(self) -> bool:
        counts = self.track.checkpoint.counts
        if any(count < end for count, end in zip(counts, self.goal.ends, strict=True)):
            return False
        key = self.track.generation.key(PENDING)
        return not (self.track.waiting and self._client.zcount(key, "-inf", f"({self.goal.at}"))


def leaves_total(rebuilds: Sequence[Rebuild]) -> int:
    """Return how many leaves there were to read when they began."""
    return sum(sum(rebuild.goal.ends) for rebuild in rebuilds)


def leaves_read(rebuilds: Sequence[Rebuild]) -> int:
    """Return how many of them have been read."""
    return sum(
        min(count, end)
        for rebuild in rebuilds
        for count, end in zip(rebuild.track.checkpoint.counts, rebuild.goal.ends, strict=True)
    )
