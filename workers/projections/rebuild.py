"""Rebuilds a projection beside the live generation, and then promotes the new one.

During the rebuild the live generation is read and fed as usual. The new one replaces it by one move of
the pointer, once it has read as much. A kill at any point leaves a generation that nobody reads, which
the next rebuild removes.
"""

from collections.abc import Sequence
from uuid import uuid4

import redis

from infra.process.intervals import every
from infra.projections.buckets import BUCKETS, Checkpoint
from infra.projections.generations import BUFFER, RENEW_SECONDS, BusyError, Generations
from infra.projections.projection import Projection
from infra.store.lost_leaves import losses_text
from infra.store.port import Store, Watermark
from workers.projections.feed import Feed, Track


class StuckError(Exception):
    """A projection can't be rebuilt from the logs; the message says where it stops."""


class Rebuild:
    """One projection's new generation; `BusyError` if another rebuild is under way.

    It has as many buckets as the live one, unless their number is named.
    """

    def __init__(
        self, store: Store, client: redis.Redis, projection: Projection, buckets: int | None = None
    ) -> None:
        self._store = store
        self._client = client
        self._generations = Generations(client, projection.spec)
        self.token = uuid4().hex
        # before it reads, because what is lost later it may know
        self._losses = losses_text(client, store.shards)
        self._renew_at_times = every(RENEW_SECONDS, self.renew)
        self.goal: Watermark = store.watermark()
        """The ends of the logs at the beginning, up to which it must read."""
        shards = store.shards
        live = self._generations.live()
        count = buckets or (live[1].buckets if live else BUCKETS)
        self.projection = projection
        self.generation = self._generations.begin(self.token, shards, count)
        zero = Checkpoint.zero(projection.spec, shards)
        self.tracks = [
            Track(projection, self._generations, bucket, zero) for bucket in self.generation.all
        ]

    def divide(self) -> None:
        """Let several processes build it, each with the leaves of another shard."""
        if self.projection.shards_apart:
            self._generations.divide(self.generation)

    def unite(self) -> None:
        """Go on with what those processes have built; `BusyError` if another rebuild took over."""
        self.renew()
        if self.projection.shards_apart:
            self._generations.unite(self.generation)
        for track in self.tracks:
            track.reload()

    def keep_alive(self) -> None:
        """Renew from time to time; call it before each round. `BusyError` if another rebuild took over."""
        if any(track.gone for track in self.tracks):
            raise BusyError(
                f"the rebuild of {self._generations.spec.name} was overtaken by another"
            )
        self._renew_at_times()

    def renew(self) -> None:
        """Renew the claim to the rebuild; `BusyError` if another rebuild took over."""
        self._generations.renew(self.token)

    def check_stuck(self) -> None:
        """Raise `StuckError` if it could not fold something."""
        for stuck in self._generations.all_failures(self.generation):
            raise StuckError(f"{self._generations.spec.name} stop at {stuck.what}: {stuck.error}")

    @property
    def leaves(self) -> int:
        """Return how many leaves its last bucket has read."""
        return min(sum(track.position.counts) for track in self.tracks)

    def promote(self, feed: Feed) -> bool:
        """Make it the live generation, if it has read enough; return whether it is."""
        if not self._has_read():
            return False
        feed.save(self.tracks)
        ends = self._store.watermark().ends
        checkpoints = [track.checkpoint for track in self.tracks]
        if not self._generations.promote(self.generation, checkpoints, ends, self.token):
            return False
        self._generations.note_losses(self._losses)
        return True

    def drop(self) -> None:
        """Delete the new generation."""
        self._generations.drop(self.generation, self.token)

    def _has_read(self) -> bool:
        return all(self._has_track_read(track) for track in self.tracks)

    def _has_track_read(self, track: Track) -> bool:
        counts = track.position.counts
        if any(count < end for count, end in zip(counts, self.goal.ends, strict=True)):
            return False
        key = track.bucket.key(BUFFER)
        return not (track.waiting and self._client.zcount(key, "-inf", f"({self.goal.at}"))


def leaves_total(rebuilds: Sequence[Rebuild]) -> int:
    """Return how many leaves the rebuilds have to read."""
    return sum(sum(rebuild.goal.ends) for rebuild in rebuilds)


def leaves_read(rebuilds: Sequence[Rebuild]) -> int:
    """Return how many of them are read."""
    return sum(
        min(sum(map(min, track.position.counts, rebuild.goal.ends)) for track in rebuild.tracks)
        for rebuild in rebuilds
    )
