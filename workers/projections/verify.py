"""Verifies that a projection equals one that is rebuilt from the logs.

A second generation is built up to the very checkpoints of the live one, and every key is compared. During
the comparison the live one is frozen; the projection worker waits, and matches go on.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
import redis

from infra.projections.buckets import Checkpoint
from infra.projections.compare import Comparison
from infra.projections.generations import BusyError, Generation, Generations
from infra.projections.paged_projections import paged_rows
from infra.projections.projection import Projection
from infra.projections.row_pages import NO_PAGES, RowPages
from infra.store.port import Store
from workers.projections.feed import Feed
from workers.projections.rebuild import Rebuild, StuckError

KEEP_SECONDS: Final = 5.0
"""Between two renewals, each of which holds for `infra.projections.generations.BUILDING_MS`."""

Progress = Callable[[int, int], None]
"""Called with the number of leaves that are read, and of keys that are compared."""


class VerifyResult(msgspec.Struct, frozen=True):
    """The result of a verification."""

    difference: str
    """The first key that differs; empty when all are equal."""
    leaves: int
    """How many leaves the live generation had read."""
    keys: int
    """How many keys were compared."""


class ProjectionVerifier:
    """Verifies one projection; `BusyError` if it is being built or verified elsewhere."""

    def __init__(
        self,
        store: Store,
        client: redis.Redis,
        projection: Projection,
        progress: Progress = lambda _leaves, _keys: None,
        pages: RowPages = NO_PAGES,
    ) -> None:
        self._pages = pages
        self._client = client
        self._feed = Feed(store, client)
        self._generations = Generations(client, projection.spec)
        self._live = self._find_live()
        self._rebuild = Rebuild(store, client, projection, self._live.buckets)
        self._progress = progress
        self._next_renewal = 0.0
        """When to renew, by the monotonic clock."""

    def _find_live(self) -> Generation:
        """Return the live generation; `LookupError` if there is none of this version."""
        spec = self._generations.spec
        live = self._generations.live()
        if live is None or live[0] != spec.version:
            raise LookupError(
                f"{spec.name} of version {spec.version} are not there yet; "
                "the projection worker of `matchpost serve` makes them"
            )
        return live[1]

    def run(self) -> VerifyResult:
        """Build, compare and clean up."""
        try:
            self._read_up_to(self._checkpoints())
            self._generations.freeze(self._live, self._rebuild.token)
            try:
                return self._compare()
            finally:
                self._generations.unfreeze(self._live, self._rebuild.token)
        finally:
            self._rebuild.drop()

    def _checkpoints(self) -> list[Checkpoint]:
        found = self._generations.checkpoints(self._live)
        if None in found:
            raise BusyError(f"{self._live.name} were replaced meanwhile; try again")
        return [one for one in found if one is not None]

    def _read_up_to(self, goals: Sequence[Checkpoint]) -> None:
        """Read with each bucket up to the checkpoint of the live one."""
        tracks = self._rebuild.tracks
        for track, goal in zip(tracks, goals, strict=True):
            track.goal = goal
        while unread := [track for track in tracks if not track.has_reached_goal]:
            self._rebuild.keep_alive()
            if not self._feed.round(unread):
                self._rebuild.check_stuck()
                # the live one contains something that the logs do not
                raise StuckError(
                    f"{self._live.name} can't be rebuilt from the logs up to their checkpoint"
                )
            self._progress(self._rebuild.leaves, 0)

    def _renew(self) -> None:
        """Renew the rebuild and the freeze, if it is time: each is a write, and there are many keys."""
        if time.monotonic() >= self._next_renewal:
            self._next_renewal = time.monotonic() + KEEP_SECONDS
            self._rebuild.renew()
            self._generations.keep_frozen(self._live, self._rebuild.token)

    def _compare(self) -> VerifyResult:
        """Compare the two generations, with the live one frozen."""
        self._read_up_to(self._checkpoints())
        leaves = self._rebuild.leaves

        def compared(keys: int) -> None:
            self._renew()
            self._progress(leaves, keys)

        paged = paged_rows(self._live.name)
        comparison = Comparison(self._client, self._generations, compared, paged, self._pages)
        found = comparison.first_difference(self._live, self._rebuild.generation)
        self._generations.keep_frozen(self._live, self._rebuild.token)
        return VerifyResult(found, leaves, comparison.keys)
