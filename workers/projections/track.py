"""A track: a bucket that is fed, and its position in the logs.

The position may be ahead of the stored checkpoint, as long as the leaves between them change nothing in the
bucket. It is stored with the next change, or after `SAVE_LEAVES` leaves or `Projection.save_seconds`, so that a move costs
writes only in the buckets that it changes. What a killed worker has not stored is read again.
"""

import time
from math import inf
from typing import Final

import msgspec

from infra.projections.buckets import Bucket, Checkpoint
from infra.projections.generations import Generations
from infra.projections.projection import Projection
from infra.projections.reorder import OrderedProjection
from infra.store.port import Watermark

SAVE_LEAVES: Final = 256
"""Leaves without a change after which the position is stored."""

FROZEN_SECONDS: Final = 0.2
"""Until a bucket that is frozen by a verification is tried again."""

MOST_REGISTERED: Final = 100_000
"""Keys that a track remembers as registered; to register one again is harmless."""


class Track:
    """A bucket of a generation, and its position in the logs."""

    def __init__(
        self,
        projection: Projection,
        generations: Generations,
        bucket: Bucket,
        checkpoint: Checkpoint,
    ) -> None:
        self.projection = projection
        self.generations = generations
        self.bucket = bucket
        self.checkpoint = checkpoint
        """As it is stored."""
        self.position = checkpoint
        """How far it has read."""
        self.gone = False
        """Whether the generation has been replaced or deleted."""
        self.blocked: dict[int, float] = {}
        """Shards in which a leaf failed, each with the time of the next attempt."""
        self.stuck_places = set(generations.failures(bucket))
        """The places that are noted as stuck."""
        self.paused_until = 0.0
        self.waiting = isinstance(projection, OrderedProjection)
        """Whether events may wait for their turn."""
        self.watermark: Watermark | None = None
        """Up to its time events can be folded in order, once its ends are read."""
        self.registered: set[str] = set()
        """Keys that this process has added to the bucket's set of keys."""
        self.read_at = time.monotonic()
        """When the checkpoint was last read: what is deleted is asked after that."""
        self._save_at = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether it is not fed for now."""
        return self.gone or time.monotonic() < self.paused_until

    @property
    def is_unsaved(self) -> bool:
        """Whether it has read leaves that its stored checkpoint does not count."""
        return self.position != self.checkpoint

    @property
    def due_seconds(self) -> float:
        """Return in how many seconds its position is to be stored: 0 for now."""
        if not self.is_unsaved:
            return inf
        unsaved = sum(self.position.counts) - sum(self.checkpoint.counts)
        return 0.0 if unsaved >= SAVE_LEAVES else max(0.0, self._save_at - time.monotonic())

    def unblock(self) -> None:
        """Free the shards that are due for another attempt."""
        now = time.monotonic()
        self.blocked = {shard: end for shard, end in self.blocked.items() if now < end}

    def advance(self, counts: tuple[int, ...]) -> None:
        """Note that it has read leaves that change nothing."""
        if not self.is_unsaved:
            self._save_at = time.monotonic() + self.projection.save_seconds
        self.position = msgspec.structs.replace(self.position, counts=counts)

    def reload(self) -> None:
        """Read the checkpoint again; if it is another, the position is what it says."""
        found = self.generations.checkpoint(self.bucket)
        self.read_at = time.monotonic()
        self.gone = found is None
        if found is not None and found != self.checkpoint:
            self.checkpoint = self.position = found
            # another worker may have buffered events
            self.waiting = isinstance(self.projection, OrderedProjection)

    def apply_reply(self, reply: bytes, after: Checkpoint) -> bool:
        """Take over the result of a change; return whether it was made."""
        if reply == b"done":
            self.checkpoint = self.position = after
        elif reply == b"held":
            self.paused_until = time.monotonic() + FROZEN_SECONDS
        else:
            self.reload()
        return reply == b"done"

    def register(self, names: list[str]) -> None:
        """Remember keys that are in the bucket's set of keys now."""
        if len(self.registered) + len(names) > MOST_REGISTERED:
            self.registered.clear()
        self.registered.update(names)
