"""Verifies that a projection equals one that is made again from the logs, in this process' memory.

Each bucket is folded up to the very checkpoint of the live one, and on with it while every key is compared.
Nothing is written, and the projection worker goes on.
"""

from collections.abc import Callable, Sequence

import msgspec
import redis

from infra.archive.store import StoreWithArchive
from infra.projections.buckets import Bucket, Checkpoint, EventPosition
from infra.projections.compare import Comparison
from infra.projections.erasure import mark_erased
from infra.projections.finished_matches import no_entries
from infra.projections.generations import BUFFER, BusyError, Generation, Generations
from infra.projections.memory import MemoryBucket
from infra.projections.projection import Fact, Projection
from infra.projections.reorder import BufferedEvent, OrderedProjection
from infra.store.port import Store
from workers.projections.feed import DUE_BATCH, remove_pending
from workers.projections.log_reader import LogReader
from workers.projections.rebuild import StuckError

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
    """Verifies one projection."""

    def __init__(
        self,
        store: Store,
        client: redis.Redis,
        projection: Projection,
        progress: Progress = lambda _leaves, _keys: None,
    ) -> None:
        self._entries = store.entries if isinstance(store, StoreWithArchive) else no_entries
        self._client = client
        self._reader = LogReader(store)
        self._projection = projection
        self._generations = Generations(client, projection.spec)
        self._live = self._find_live()
        self._progress = progress
        zero = Checkpoint.zero(projection.spec, store.shards)
        self._buckets = [MemoryBucket() for _ in self._live.all]
        self._positions = [zero for _ in self._live.all]

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
        """Fold and compare; `BusyError` if the live generation is replaced, `StuckError` if it can't be folded."""
        goals = self._checkpoints()
        # together as far as all have read, because the logs are the larger part of the work
        least = tuple(map(min, zip(*(goal.counts for goal in goals), strict=True)))
        self._read(range(self._live.buckets), least)
        for number, goal in enumerate(goals):
            self._advance(number, goal)
        leaves = min(sum(position.counts) for position in self._positions)
        comparison = Comparison(
            self._client,
            self._generations,
            self._live,
            self._buckets,
            self._advance,
            done=lambda keys: self._progress(leaves, keys),
            entries=self._entries,
        )
        return VerifyResult(comparison.first_difference(), leaves, comparison.keys)

    def _checkpoints(self) -> list[Checkpoint]:
        found = self._generations.checkpoints(self._live)
        if None in found:
            raise BusyError(f"{self._live.name} were replaced meanwhile; try again")
        return [one for one in found if one is not None]

    def _advance(self, number: int, goal: Checkpoint) -> None:
        """Fold a bucket up to a checkpoint."""
        if goal.counts != self._positions[number].counts:
            self._read([number], goal.counts)
        if goal.last != self._positions[number].last:
            self._fold_due(number, goal.last)

    def _read(self, numbers: Sequence[int], until: Sequence[int]) -> None:
        """Fold the leaves up to these indexes in buckets that are at the same place."""
        start = self._positions[numbers[0]].counts
        while start != tuple(until):
            chunk = self._reader.read(start, (), until)
            for leaf in chunk.unreadable[:1]:
                self._stop(f"leaf {leaf.index} of shard {leaf.shard}", leaf.error)
            if not chunk.leaves:
                # the live one contains something that the logs do not
                raise StuckError(
                    f"{self._live.name} can't be rebuilt from the logs up to their checkpoint"
                )
            facts = mark_erased(self._client, chunk.all_facts, set())
            routed = self._projection.route(facts, self._live.buckets)
            for number in numbers:
                self._fold(self._live.bucket(number), routed[number])
                position = self._positions[number]
                self._positions[number] = msgspec.structs.replace(position, counts=chunk.counts)
            start = chunk.counts
            self._progress(sum(start), 0)

    def _fold(self, bucket: Bucket, facts: Sequence[Fact]) -> None:
        memory, projection = self._buckets[bucket.number], self._projection
        try:
            found = [memory.read(read) for read in projection.needs(facts, bucket)]
            memory.write(projection.fold(facts, found, bucket))
        except Exception as error:  # noqa: BLE001 - narrowed down to the event
            if len(facts) > 1:
                for fact in facts:
                    self._fold(bucket, [fact])
                return
            event = facts[0].event
            self._stop(f"event {event.seq} of match {event.match}", error)

    def _fold_due(self, number: int, last: EventPosition) -> None:
        """Fold in their order the events up to a position."""
        memory, projection, position = (
            self._buckets[number],
            self._projection,
            self._positions[number],
        )
        assert isinstance(projection, OrderedProjection)
        waiting = memory.ordered(BUFFER)
        due = [BufferedEvent.read(member, score) for score, member in waiting]
        due = [turn for turn in due if turn.place <= last]
        for start in range(0, len(due), DUE_BATCH):
            some = due[start : start + DUE_BATCH]
            found = [memory.read(read) for read in projection.ordered_needs(some)]
            memory.write(projection.ordered_fold(some, found))
            memory.write(remove_pending(some, len(position.counts)))
        self._positions[number] = msgspec.structs.replace(position, last=last)

    def _stop(self, what: str, error: Exception) -> None:
        said = f"{type(error).__name__}: {error}"
        raise StuckError(f"{self._live.name} stop at {what}: {said}") from error
