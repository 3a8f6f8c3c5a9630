"""A side worker worked by hand."""

import time
from collections.abc import Sequence

from redis import Redis

from infra.projections.buckets import BUCKETS, SPECS
from infra.projections.generations import Generations
from infra.projections.projection import Projection
from infra.store.port import Store
from tests.helpers.rollback import content, names_of
from workers.projections import PROJECTIONS
from workers.projections.worker import ProjectionWorker


def catch_up(
    store: Store,
    client: Redis,
    projections: Sequence[Projection] = PROJECTIONS,
    seconds: float = 30,
    buckets: int = BUCKETS,
) -> ProjectionWorker:
    """Have a new side worker read everything there is, and take in all whose turn can come."""
    side = ProjectionWorker(store, client, projections, buckets=buckets)
    settle(side, seconds)
    return side


def settle(side: ProjectionWorker, seconds: float = 30) -> None:
    """Have a side worker go on until it has nothing to do."""
    deadline = time.monotonic() + seconds
    has_work = True
    # what it hurried for before a round may be done in the next
    while side.round() or has_work:
        if not side.has_work:
            side.save()  # which finds a generation that was replaced
        has_work = side.has_work
        assert time.monotonic() < deadline, "the side worker does not come to an end"


def contents(client: Redis) -> dict[str, object]:
    """What all live generations hold, whatever their numbers.

    The sets of their keys are left out: they also have those that came and went between two readings.
    """
    found = {}
    for spec in SPECS:
        live = Generations(client, spec).live()
        if live is None:
            continue
        for bucket in live[1].all:
            for name in names_of(client, f"{bucket.key('')}*"):
                if name.decode() == bucket.names_key:
                    continue
                rest = name.decode().removeprefix(bucket.key(""))
                where = f"b{bucket.number}:" if bucket.count > 1 else ""
                found[f"{spec.name}:{where}{rest}"] = content(client, name)
    return found
