"""The projection worker (CLI role `side`): feeds all projections from the logs.

It rebuilds a projection that is missing, of an older version or out of order, while the old one is still
read. It never touches matches: when it is killed or fails, only the lists are late. Several do no harm.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

import redis

from infra.projections.generations import BusyError, Generations
from infra.projections.projection import Projection
from infra.store.port import Store
from workers.projections import PROJECTIONS
from workers.projections.feed import Feed, Track
from workers.projections.log_reader import BATCH
from workers.projections.rebuild import Rebuild

logger = logging.getLogger(__name__)

IDLE_MS: Final = 1_000
"""How long it waits for new leaves before it looks whether it should stop."""

SHORT_WAIT_MS: Final = 100
"""The same while events wait for their turn, or for another attempt."""

MIN_ROUND_SECONDS: Final = 0.1
"""Least time between two rounds, because each is one more fsync of the server."""

RETRY_SECONDS: Final = 1.0
"""Between two attempts to find or rebuild a live generation."""


class ProjectionWorker:
    """Feeds projections from the logs."""

    def __init__(
        self, store: Store, client: redis.Redis, projections: Sequence[Projection] = PROJECTIONS
    ) -> None:
        self._store = store
        self._client = client
        self._feed = Feed(store, client)
        self._slots = [_ProjectionSlot(store, client, projection) for projection in projections]

    def run(self, stopping: Callable[[], bool]) -> None:
        """Go on until asked to stop, or until the server goes away."""
        while not stopping():
            began = time.monotonic()
            done = self.round()
            if not done:
                self._feed.wait(self._live, SHORT_WAIT_MS if self.has_work else IDLE_MS)
            elif done < BATCH // 2:
                time.sleep(max(0.0, MIN_ROUND_SECONDS - (time.monotonic() - began)))

    def round(self) -> int:
        """Read some leaves for each projection; return how many, 0 if none are left."""
        for slot in self._slots:
            slot.ensure_live()
        rebuilt = [slot.rebuild.track for slot in self._slots if slot.rebuild]
        done = self._feed.round([*self._live, *rebuilt])
        return done + sum(slot.promote() for slot in self._slots)

    @property
    def _live(self) -> list[Track]:
        return [slot.track for slot in self._slots if slot.track]

    @property
    def has_work(self) -> bool:
        """Whether there may be something to do soon, even without new leaves."""
        return any(slot.has_work for slot in self._slots)


class _ProjectionSlot:
    """The live generation of a projection, and the one that is being built."""

    def __init__(self, store: Store, client: redis.Redis, projection: Projection) -> None:
        self.projection = projection
        self.track: Track | None = None
        self.rebuild: Rebuild | None = None
        self._store = store
        self._client = client
        self._generations = Generations(client, projection.spec)
        self._next_attempt = 0.0

    @property
    def has_work(self) -> bool:
        """Whether there may be something to do, even without new leaves."""
        track = self.track
        if track is None or self.rebuild is not None:
            return True
        return track.waiting or track.is_paused or bool(track.blocked) or track.checkpoint.late

    def ensure_live(self) -> None:
        """Find the live generation, or go on with the rebuild of one."""
        if self.track and self.track.gone:
            self.track = None
            self._next_attempt = 0.0
        sound = self.track is not None and not self.track.checkpoint.late
        if self.rebuild:
            self._keep_alive(self.rebuild)
        elif not sound and time.monotonic() >= self._next_attempt:
            self._next_attempt = time.monotonic() + RETRY_SECONDS
            self._find_live()

    def _keep_alive(self, rebuild: Rebuild) -> None:
        try:
            rebuild.keep_alive()
        except BusyError as error:
            logger.warning("%s", error)
            self.rebuild = None

    def _find_live(self) -> None:
        """Load the live generation, or begin to build one if there is none that will do."""
        why = self._load_live()
        if why:
            try:
                self.rebuild = Rebuild(self._store, self._client, self.projection)
            except BusyError:
                return  # another worker builds it
            logger.info("%s are rebuilt: %s", self.projection.spec.name, why)

    def _load_live(self) -> str:
        """Load the live generation; return why it must be rebuilt, or an empty text."""
        spec = self.projection.spec
        live = self._generations.live()
        if live is None:
            return "there are none yet"
        version, generation = live
        if version < spec.version:
            return f"they are of version {version}, and this program's is {spec.version}"
        checkpoint = self._generations.checkpoint(generation)
        if version > spec.version:
            return ""
        if checkpoint is None:
            # unless it has been replaced at this moment
            return "their checkpoint is gone" if self._generations.live() == live else ""
        if self.track is None or self.track.generation != generation:
            self.track = Track(self.projection, self._generations, generation, checkpoint)
        ends = self._store.watermark().ends
        if any(count > end for count, end in zip(checkpoint.counts, ends, strict=True)):
            return "they know of leaves that the logs have lost"
        return "an event came that belongs before others" if checkpoint.late else ""

    def promote(self) -> bool:
        """Make the rebuilt generation the live one, if it has read enough; return whether it is."""
        if self.rebuild is None or not self.rebuild.promote():
            return False
        self.track = self.rebuild.track
        self.rebuild = None
        return True
