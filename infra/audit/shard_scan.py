"""The check of a shard's whole log: without gaps, readable, and as it is published.

The leaves are read page by page, from the data and from the published log, and compared. The tree of the
published log is made again from its bundles. The totals that are returned let each match be compared with the
log, without reading a leaf twice.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec
import redis

from infra.audit.leaf_order import LeafOrder
from infra.audit.leaf_totals import LeafTotals, leaf_number
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.tiles import WIDTH, Tile
from infra.log.tree_rebuild import TreeRebuild
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.store.log_gate import read_ends
from infra.store.log_streams import read_leaves

PAGE: Final = 4 * WIDTH
"""Leaves that are read together: whole bundles."""

MOST_FAULTS: Final = 20
"""Faults of one shard's log that are returned."""


class ShardScan(msgspec.Struct):
    """A shard's log as its check has found it."""

    shard: int
    end: int
    """Leaves from this index on came later, and were not read."""
    published: int
    """So many leaves are covered by the signed checkpoint."""
    totals: LeafTotals
    order: LeafOrder
    faults: list[str]


class ShardScanner:
    """Reads the log of one shard up to its present end. `log` is None where nothing is published.

    `refresh` the log before; errors of the data's server pass through.
    """

    def __init__(
        self,
        client: redis.Redis,
        shard: int,
        shards: int,
        log: PublishedLog | None,
        secret: bytes,
    ) -> None:
        self._client: Any = client  # redis-py types no answer precisely
        self._log = log
        self._secret = secret
        self._published = log.size if log else 0
        (end,) = read_ends(client, [shard])
        self.scan = ShardScan(
            shard,
            max(end, self._published),
            self._published,
            LeafTotals(),
            LeafOrder(shard, shards),
            [],
        )
        if end < self._published:
            self._fault(f"the data have {end} leaves, and {self._published} are published")

    def run(self, advance: Callable[[int], None] = lambda _: None) -> ShardScan:
        """Read all leaves; `advance` is called with the number of leaves of each page."""
        tree = TreeRebuild()
        for start in range(0, self.scan.end, PAGE):
            end = min(start + PAGE, self.scan.end)
            published = dict(self._published_page(start, tree))
            kept = self._kept_page(start, end)
            for index in range(start, end):
                self._leaf(index, kept.get(index), published.get(index))
            advance(end - start)
        if self._log and tree.size == self._published:
            self._check_root(self._log, tree)
        self.scan.faults += islice(self.scan.order.faults, MOST_FAULTS)
        return self.scan

    def _fault(self, sentence: str) -> None:
        if len(self.scan.faults) < MOST_FAULTS:
            self.scan.faults.append(f"the log of shard {self.scan.shard}: {sentence}")

    def _leaf(self, index: int, kept: bytes | None, published: bytes | None) -> None:
        leaf = published if kept is None else kept
        if leaf is None:
            # one that can't be read in the published log was named there
            if index >= self._published:
                self._fault(f"leaf {index} is missing")
            return
        if published is not None and leaf != published:
            self._fault(f"leaf {index} is another one than the published leaf, which is signed")
        place = self.scan.order.add(index, leaf)
        if place is not None:
            self.scan.totals.add(place, leaf_number(self._secret, index, leaf))

    def _kept_page(self, start: int, end: int) -> dict[int, bytes]:
        """Return the leaves that the data have; those that were trimmed are before the first."""
        shard = self.scan.shard
        rows = self._client.xrange(keys.log(shard), f"{start}-0", f"({end}-0")
        try:
            found = dict(read_leaves(rows))
        except (KeyError, ValueError) as error:
            self._fault(f"a leaf from {start} to {end - 1} can't be read: {error!r}")
            return {}
        if len(found) < end - start:
            first = self._client.xrange(keys.log(shard), count=1)
            kept = read_leaves(first)[0][0] if first else self._published
            lost = next(
                (index for index in range(max(start, kept), end) if index not in found), None
            )
            if lost is not None and lost < self._published:
                self._fault(f"leaf {lost} is missing in the data, and is published")
        return found

    def _published_page(self, start: int, tree: TreeRebuild) -> Iterator[tuple[int, bytes]]:
        """Yield the published leaves of a page with their indexes, after comparing their tiles."""
        if self._log is None:
            return
        for first in range(start, min(start + PAGE, self._published), WIDTH):
            try:
                rows = self._log.bundle(first // WIDTH)
                for tile, hashes in tree.add(rows) if tree.size == first else ():
                    self._check_tile(self._log, tile, hashes)
            except (LogDamagedError, ObjectStoreError) as error:
                self._fault(f"its published leaves from {first} on can't be read: {error}")
                continue
            yield from enumerate(rows, first)

    def _check_tile(self, log: PublishedLog, tile: Tile, hashes: Sequence[bytes]) -> None:
        try:
            if log.hashes(tile) == hashes:
                return
            self._fault(f"{tile.path} does not have the hashes of the published leaves")
        except (LogDamagedError, ObjectStoreError) as error:
            self._fault(f"{tile.path} can't be read: {error}")

    def _check_root(self, log: PublishedLog, tree: TreeRebuild) -> None:
        for tile, hashes in tree.unfinished():
            self._check_tile(log, tile, hashes)
        if log.checkpoint and tree.root() != log.checkpoint.root:
            self._fault(
                f"the {tree.size} published leaves do not have the root of the signed checkpoint"
            )
