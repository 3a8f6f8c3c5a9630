"""The keeper: what must happen by itself, once a second. Now: the sweeper."""

from infra.faults import point
from infra.keys import shards_of
from infra.lanes import Lanes
from infra.store.port import Store


class Keeper:
    """One `tick` a second; several keepers do no harm."""

    def __init__(self, store: Store, lanes: Lanes) -> None:
        self._store = store
        self._lanes = lanes

    def tick(self) -> None:
        """Ask for a drain of each lane where commands wait and none runs."""
        shape = self._store.shape()
        point("keeper.ticked")
        for lane in range(shape.lanes):
            if self._store.depth(shards_of(lane, shape.lanes, shape.shards)):
                point("keeper.found")
                self._lanes.want(lane)
