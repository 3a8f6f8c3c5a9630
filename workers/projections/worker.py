"""The projection worker (CLI role `side`): feeds all projections from the logs.

It rebuilds a projection that is missing, of an older version or out of order, while the old one is still
read. It never touches matches: when it is killed or fails, only the lists are late. Several do no harm, and
can share the work: each feeds a group of the buckets of every projection.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec
import redis

from infra.process.intervals import every
from infra.process.metrics import PROJECTED
from infra.projections.buckets import BUCKETS, Bucket, Checkpoint
from infra.projections.generations import BusyError, Generation, Generations
from infra.projections.projection import Projection
from infra.store.channels import LogListener
from infra.store.lost_leaves import LostLeaves, read_losses, text_of_losses
from infra.store.port import Store
from workers.projections import PROJECTIONS
from workers.projections.feed import Feed, Track
from workers.projections.log_reader import BATCH
from workers.projections.rebuild import Rebuild

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 5.0
"""How long it waits for news of the logs before it looks into them; `stop` ends a wait."""

LOSSES_SECONDS: Final = 20.0
"""How often it looks whether the logs that grow have lost leaves: other leaves take the place of the lost ones."""

ALL_LOSSES_SECONDS: Final = 60.0
"""The same for all logs: a look is a command for each shard."""

SHORT_WAIT_SECONDS: Final = 0.1
"""The same while events wait for their turn, or for another attempt."""

MIN_ROUND_SECONDS: Final = 0.1
"""Least time between two rounds, because each is one more fsync of the server."""

RETRY_SECONDS: Final = 1.0
"""Between two attempts to find or rebuild a live generation."""


class BucketGroup(msgspec.Struct, frozen=True):
    """One of some groups that share all buckets."""

    number: int = 0
    count: int = 1

    def has(self, bucket: Bucket) -> bool:
        """Return whether a bucket is in the group."""
        return bucket.number % self.count == self.number


ALL_BUCKETS: Final = BucketGroup()


class ProjectionWorker:
    """Feeds a group of the buckets of projections from the logs."""

    def __init__(
        self,
        store: Store,
        client: redis.Redis,
        projections: Sequence[Projection] = PROJECTIONS,
        group: BucketGroup = ALL_BUCKETS,
        buckets: int = BUCKETS,
        *,
        queue: redis.Redis | None = None,
    ) -> None:
        """`queue` is a client of the queue's server, if that is another than `client`'s.

        `buckets` is their number in projections that are built for the first time.
        """
        self._store = store
        self._client = client
        self._losses: dict[int, LostLeaves] = {}
        """The last loss of each shard that has one."""
        self._look_for_losses = (
            every(ALL_LOSSES_SECONDS, lambda: self._read_losses(range(store.shards))),
            every(LOSSES_SECONDS, lambda: self._read_losses(self._feed.take_grown())),
        )
        self._news = LogListener(client if queue is None else queue)
        self._feed = Feed(store, client)
        self._slots = [
            _ProjectionSlot(store, client, projection, group, buckets) for projection in projections
        ]

    def run(self, stopping: Callable[[], bool]) -> None:
        """Go on until asked to stop, or until the server goes away."""
        while not stopping():
            began = time.monotonic()
            done = self.round()
            PROJECTED.inc(done)
            if done >= BATCH // 2:
                continue
            if done:
                time.sleep(max(0.0, MIN_ROUND_SECONDS - (time.monotonic() - began)))
            if not self.has_work:
                # also after a round with leaves, because this is the look that the next one needs
                # one without buckets may get some
                rests = all(slot.tracks for slot in self._slots)
                self._feed.wait(self._live, self._news, LOOK_SECONDS if rests else RETRY_SECONDS)
            elif not done:
                self._feed.wait(self._live, self._news, SHORT_WAIT_SECONDS)
        self.save()

    def stop(self) -> None:
        """Wait no longer from now on; called in another thread or by the handler of a signal."""
        self._news.stop()

    def round(self) -> int:
        """Read some leaves for each projection; return how many, 0 if none are left."""
        for look in self._look_for_losses:
            look()
        losses = text_of_losses(self._losses[shard] for shard in sorted(self._losses))
        for slot in self._slots:
            slot.ensure_live(losses)
        rebuilt = [track for slot in self._slots if slot.rebuild for track in slot.rebuild.tracks]
        done = self._feed.round([*self._live, *rebuilt])
        return done + sum(slot.promote(self._feed) for slot in self._slots)

    def _read_losses(self, shards: Iterable[int]) -> None:
        looked = sorted(shards)
        for shard in looked:
            self._losses.pop(shard, None)
        self._losses |= {one.shard: one for one in read_losses(self._client, looked)}

    def save(self) -> None:
        """Store the positions of all buckets; a killed worker's successor reads some leaves again."""
        self._feed.save(self._live)

    @property
    def _live(self) -> list[Track]:
        return [track for slot in self._slots for track in slot.tracks]

    @property
    def has_work(self) -> bool:
        """Whether there may be something to do soon, even without new leaves."""
        return any(slot.has_work for slot in self._slots)


class _ProjectionSlot:
    """The buckets of the live generation of a projection, and the generation that is being built."""

    def __init__(
        self,
        store: Store,
        client: redis.Redis,
        projection: Projection,
        group: BucketGroup,
        buckets: int,
    ) -> None:
        self.projection = projection
        self.tracks: list[Track] = []
        self.rebuild: Rebuild | None = None
        self._live: Generation | None = None
        self._group = group
        self._buckets = buckets
        self._store = store
        self._client = client
        self._generations = Generations(client, projection.spec)
        self._next_attempt = 0.0
        self._losses = ""
        """The lost leaves that the live generation does not know of."""

    @property
    def is_late(self) -> bool:
        """Whether an event came that belongs before others."""
        return any(track.position.late for track in self.tracks)

    @property
    def has_work(self) -> bool:
        """Whether there may be something to do, even without new leaves."""
        if self._live is None or self.rebuild is not None or self.is_late:
            return True
        return any(one.waiting or one.is_paused or one.blocked for one in self.tracks)

    @property
    def _must_look(self) -> bool:
        """Whether to look for the live generation; one without buckets of the group may be replaced."""
        return self._live is None or not self.tracks or self.is_late

    def ensure_live(self, losses: str) -> None:
        """Find the live generation, or go on with the rebuild of one; `losses` is `losses_text`."""
        if any(track.gone for track in self.tracks):
            self._live, self.tracks = None, []
            self._next_attempt = 0.0
        if self.rebuild:
            self._keep_alive(self.rebuild)
        elif (self._must_look or losses != self._losses) and time.monotonic() >= self._next_attempt:
            self._next_attempt = time.monotonic() + RETRY_SECONDS
            self._find_live(losses)

    def _keep_alive(self, rebuild: Rebuild) -> None:
        try:
            rebuild.keep_alive()
        except BusyError as error:
            logger.warning("%s", error)
            self.rebuild = None

    def _find_live(self, losses: str) -> None:
        """Load the live generation, or begin to build one if there is none that will do."""
        why = self._load_live(losses)
        if why:
            buckets = None if self._generations.live() else self._buckets
            try:
                self.rebuild = Rebuild(self._store, self._client, self.projection, buckets)
            except BusyError:
                return  # another worker builds it
            logger.info("the projection `%s` is rebuilt: %s", self.projection.spec.name, why)

    def _load_live(self, losses: str) -> str:
        """Load the live generation; return why it must be rebuilt, or an empty text."""
        spec = self.projection.spec
        live = self._generations.live()
        if live is None:
            return "it has not been built yet"
        version, generation = live
        if version < spec.version:
            return f"it has version {version}, and this program's is {spec.version}"
        found = self._generations.checkpoints(generation)
        if version > spec.version:
            return ""
        checkpoints = [one for one in found if one is not None]
        if len(checkpoints) < len(found):
            # unless it has been replaced at this moment
            return "its checkpoint is gone" if self._generations.live() == live else ""
        if self._live != generation:
            pairs = zip(generation.all, checkpoints, strict=True)
            self._take(
                generation,
                [
                    Track(self.projection, self._generations, bucket, checkpoint)
                    for bucket, checkpoint in pairs
                ],
            )
        if why := self._lost(checkpoints, losses):
            return why
        self._losses = losses
        late = any(checkpoint.late for checkpoint in checkpoints)
        return "an event came that belongs before others" if late else ""

    def _lost(self, checkpoints: Sequence[Checkpoint], losses: str) -> str:
        """Return which lost leaves the live generation may know of, or an empty text."""
        ends = self._store.watermark().ends
        if any(
            count > end
            for checkpoint in checkpoints
            for count, end in zip(checkpoint.counts, ends, strict=True)
        ):
            return "it knows of leaves that the logs have lost"
        if self._generations.losses() != losses:
            return (
                "it may know of leaves that the logs have lost, and whose indexes were used again"
            )
        return ""

    def _take(self, generation: Generation, tracks: Sequence[Track]) -> None:
        """Feed the group's buckets of a generation from now on."""
        self._live = generation
        self.tracks = [track for track in tracks if self._group.has(track.bucket)]

    def promote(self, feed: Feed) -> bool:
        """Make the rebuilt generation the live one, if it has read enough; return whether it is."""
        if self.rebuild is None or not self.rebuild.promote(feed):
            return False
        self._take(self.rebuild.generation, self.rebuild.tracks)
        self.rebuild = None
        return True
