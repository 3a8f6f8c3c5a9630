"""How far a projection is behind the logs: for the doctor, and whoever watches a server."""

import msgspec
import redis

from domain.match.events import decode, decode_refusal
from infra.projections.pending import PENDING
from infra.projections.shelf import Checkpoint, Generation, Shelf, Stuck
from infra.projections.specs import Spec
from infra.store.port import Store, Watermark


class Lag(msgspec.Struct, frozen=True):
    """Where a projection stands."""

    spec: Spec
    version: int | None
    """Of what is there; None where nothing is."""
    events: int
    """Leaves that are not in yet, and events whose turn has come and that are not taken yet."""
    oldest: int | None
    """When the oldest of them was received, ms; None where that is not known, or there is none."""
    stuck: tuple[Stuck, ...]
    """What could not be taken in."""
    late: bool
    """Whether the order was broken, so that it must be made anew."""
    building: bool
    """Whether it is being made anew, or compared."""


def lag(store: Store, client: redis.Redis, spec: Spec) -> Lag:
    """Look where a projection stands; O(shards)."""
    shelf = Shelf(client, spec)
    live = shelf.live()
    mark = store.watermark()
    checkpoint = shelf.checkpoint(live[1]) if live else None
    if live is None or checkpoint is None:
        return Lag(spec, None, sum(mark.ends), None, (), late=False, building=shelf.is_building)
    version, generation = live
    turns, first = _turns(client, generation, mark)
    unread = sum(
        max(0, end - count) for count, end in zip(checkpoint.counts, mark.ends, strict=True)
    )
    times = [*_times(store, checkpoint, mark), *([] if first is None else [first])]
    return Lag(
        spec=spec,
        version=version,
        events=unread + turns,
        oldest=min(times, default=None),
        stuck=tuple(shelf.stuck(generation).values()),
        late=checkpoint.late,
        building=shelf.is_building,
    )


def _turns(client: redis.Redis, generation: Generation, mark: Watermark) -> tuple[int, int | None]:
    """Return how many events wait though their turn has come, and when the first was received."""
    with client.pipeline(transaction=False) as pipe:
        pipe.zcount(generation.key(PENDING), "-inf", f"({mark.at}")
        pipe.zrange(generation.key(PENDING), 0, 0, withscores=True)
        count, first = pipe.execute()
    return count, int(first[0][1]) if count else None


def _times(store: Store, checkpoint: Checkpoint, mark: Watermark) -> list[int]:
    """Return when the first leaf that is not in was received, of each shard where that can be told."""
    found = []
    for shard, (count, end) in enumerate(zip(checkpoint.counts, mark.ends, strict=True)):
        for _, leaf in store.leaves(shard, count, 1) if count < end else ():
            at = _time_of(leaf)
            if at is not None:
                found.append(at)
    return found


def _time_of(leaf: bytes) -> int | None:
    """Return the time of a leaf; None for an anchor, and for what can't be read."""
    for read in (decode, decode_refusal):
        try:
            return read(leaf).at
        except (msgspec.MsgspecError, TypeError):
            continue
    return None
