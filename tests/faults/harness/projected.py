"""I6 of the projections: what the side workers keep equals what a rebuild from zero makes.

The side workers get time to catch up by themselves, whatever was done to them; then each projection is
made anew up to the same leaf, as `matchpost rebuild --check` does it, and compared key by key.
"""

import time
from collections.abc import Iterator

from redis import Redis

from infra.projections.buckets import SPECS
from infra.projections.lag import Lag, lag
from infra.projections.projection import Projection
from infra.store.port import Store
from tests.faults.harness.checker import Violation
from workers.projections import PROJECTIONS
from workers.projections.rebuild import StuckError
from workers.projections.verify import ProjectionVerifier

CAUGHT_UP_SECONDS = 60.0
"""For the side workers; one that was killed while it built keeps others from building for 30 s."""

_LOOK_SECONDS = 0.1


def projected(
    store: Store, client: Redis, seconds: float = CAUGHT_UP_SECONDS
) -> Iterator[Violation]:
    """Wait until the side workers have read everything, and give what differs."""
    late = _behind(store, client, time.monotonic() + seconds)
    for one in late:
        yield Violation("I6", f"{one.spec.name}: {_stand(one)} after {seconds} s")
    if not late:
        for projection in PROJECTIONS:
            yield from _compare(store, client, projection)


def _behind(store: Store, client: Redis, deadline: float) -> list[Lag]:
    """Give where the projections stand that have not read everything by then."""
    while late := [one for spec in SPECS if _is_behind(one := lag(store, client, spec))]:
        if time.monotonic() > deadline:
            return late
        time.sleep(_LOOK_SECONDS)
    return []


def _is_behind(one: Lag) -> bool:
    return bool(one.version is None or one.events or one.failures or one.late or one.building)


def _stand(one: Lag) -> str:
    """Say where a projection stands, for a reader."""
    if one.failures:
        return f"stuck at {one.failures[0].what} ({one.failures[0].error})"
    there = "not there" if one.version is None else f"{one.events} events behind"
    return f"{there}{', out of order' * one.late}{', being built' * one.building}"


def _compare(store: Store, client: Redis, projection: Projection) -> Iterator[Violation]:
    name = projection.spec.name
    try:
        result = ProjectionVerifier(store, client, projection).run()
    except StuckError as error:
        yield Violation("I6", f"{name} can't be made anew: {error}")
        return
    if result.difference:
        yield Violation(
            "I6", f"{name} differ from what {result.leaves} leaves make, at {result.difference}"
        )
