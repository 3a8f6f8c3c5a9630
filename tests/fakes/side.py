"""A side worker worked by hand."""

import time
from collections.abc import Sequence

from redis import Redis

from infra.store.port import Store
from workers.projections import PROJECTIONS
from workers.projections.projection import Projection
from workers.side import Side


def catch_up(
    store: Store,
    client: Redis,
    projections: Sequence[Projection] = PROJECTIONS,
    seconds: float = 30,
) -> Side:
    """Have a new side worker read everything there is, and take in all whose turn can come."""
    side = Side(store, client, projections)
    settle(side, seconds)
    return side


def settle(side: Side, seconds: float = 30) -> None:
    """Have a side worker go on until it has nothing to do."""
    deadline = time.monotonic() + seconds
    while side.round() or side.hurries:
        assert time.monotonic() < deadline, "the side worker does not come to an end"
