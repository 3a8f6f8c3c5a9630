"""How far a projection is behind the logs, for the doctor and for monitoring."""

from collections.abc import Iterator, Sequence

import msgspec
import redis

from domain.match.history import EventEnvelope, decode_event, is_event, time_of_leaf
from infra.projections.buckets import ProjectionFailure, Spec
from infra.projections.generations import BUFFER, Generation, Generations
from infra.store.port import Store, Watermark


class Lag(msgspec.Struct, frozen=True):
    """The lag of a projection."""

    spec: Spec
    version: int | None
    """Of the live generation; None if there is none."""
    events: int
    """Leaves that its last bucket has not read, and buffered events whose turn has come.

    A bucket in which some leaves change nothing says so only later: see `workers.projections.feed`.
    """
    oldest: int | None
    """When the oldest of them was received, ms; None if that is unknown, or there is none."""
    failures: tuple[ProjectionFailure, ...]
    """Failures of the fold."""
    late: bool
    """Whether the order was broken, so that a rebuild is needed."""
    building: bool
    """Whether it is being rebuilt or compared."""


def lag(store: Store, client: redis.Redis, spec: Spec, mark: Watermark | None = None) -> Lag:
    """Return the lag of a projection behind a watermark, or behind that of now; O(shards and buckets)."""
    generations = Generations(client, spec)
    live = generations.live()
    mark = store.watermark() if mark is None else mark
    found = generations.checkpoints(live[1]) if live else []
    checkpoints = [one for one in found if one is not None]
    if live is None or len(checkpoints) < len(found):
        return Lag(
            spec, None, sum(mark.ends), None, (), late=False, building=generations.is_building
        )
    version, generation = live
    turns, first = _turns(client, generation, mark)
    counts = list(map(min, zip(*(one.counts for one in checkpoints), strict=True)))
    unread = sum(max(0, end - count) for count, end in zip(counts, mark.ends, strict=True))
    times = [*first_times(store, counts, mark), *([] if first is None else [first])]
    return Lag(
        spec=spec,
        version=version,
        events=unread + turns,
        oldest=min(times, default=None),
        failures=tuple(generations.all_failures(generation)),
        late=any(one.late for one in checkpoints),
        building=generations.is_building,
    )


def unread_events(
    store: Store, client: redis.Redis, spec: Spec, mark: Watermark, most: int
) -> Iterator[EventEnvelope]:
    """Return the events before a watermark that a projection may lack, of the last `most` leaves of each shard.

    There are events among them that its buckets have read and not counted yet. Without a live generation
    there are none to tell. A damaged leaf, which the doctor reports, is left out.
    """
    generations = Generations(client, spec)
    live = generations.live()
    found = generations.checkpoints(live[1]) if live else []
    checkpoints = [one for one in found if one is not None]
    for shard, counts in enumerate(zip(*(one.counts for one in checkpoints), strict=True)):
        end = mark.ends[shard]
        start = max(min(counts), end - most)
        for _, leaf in store.leaves(shard, start, end - start) if start < end else ():
            try:
                if is_event(leaf):
                    yield decode_event(leaf)
            except (msgspec.MsgspecError, TypeError):
                continue


def _turns(client: redis.Redis, generation: Generation, mark: Watermark) -> tuple[int, int | None]:
    """Return how many buffered events are due, and when the first was received."""
    with client.pipeline(transaction=False) as pipe:
        for bucket in generation.all:
            pipe.zcount(bucket.key(BUFFER), "-inf", f"({mark.at}")
            pipe.zrange(bucket.key(BUFFER), 0, 0, withscores=True)
        found = pipe.execute()
    turns = [(count, first) for count, first in zip(found[::2], found[1::2], strict=True) if count]
    return sum(count for count, _ in turns), min((int(f[0][1]) for _, f in turns), default=None)


def first_times(store: Store, counts: Sequence[int], mark: Watermark) -> list[int]:
    """Return when the first unread leaf of each shard was received, if it is known."""
    found = []
    for shard, (count, end) in enumerate(zip(counts, mark.ends, strict=True)):
        for _, leaf in store.leaves(shard, count, 1) if count < end else ():
            at = time_of_leaf(leaf)
            if at is not None:
                found.append(at)
    return found
