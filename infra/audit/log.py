"""The audit of a shard's log: without gaps, readable, as it is published, and with counters that fit.

The leaves are read page by page, from the data and from the published log, and compared. The tree of the
published log is made again from its bundles. The totals that are returned let each match be compared with the
log, without reading a leaf twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec
import redis
from redis.exceptions import ResponseError

from infra.audit.leaf_order import LeafFacts, LeafOrder
from infra.audit.leaf_totals import LeafTotals, leaf_number
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.tiles import WIDTH, Tile, TreeRebuild
from infra.objects.port import ObjectStoreError
from infra.redis import keys
from infra.store.board_numbers import BoardNumbers
from infra.store.log_gate import read_ends
from infra.store.port import Store

PAGE: Final = 4 * WIDTH
"""Leaves that are read together: whole bundles."""

_MOST_ENTRIES: Final = 4
"""How many entries are read for each leaf, so that inserted ones take little memory."""

MOST_FAULTS: Final = 20
"""Faults of one shard's log that are returned."""


class PageFindings(NamedTuple):
    """Some leaves of a log in the data, as their check has found them."""

    leaves: Mapping[int, bytes]
    """By their indexes, without those that are trimmed or missing."""
    faults: Sequence[str]


def audit_page(
    client: redis.Redis, shard: int, page: range, published: Mapping[int, bytes], size: int
) -> PageFindings:
    """Compare leaves of a log in the data with the `published` ones, of which there are `size` in all.

    Published leaves before the first that the data have were trimmed.
    """
    most = _MOST_ENTRIES * len(page)
    found: Any = client.xrange(keys.log(shard), f"{page.start}-0", f"({page.stop}-0", count=most)
    leaves: dict[int, bytes] = {}
    faults = []
    for id_, fields in found:
        number, _, part = id_.partition(b"-")
        index, leaf = int(number), fields.get(b"l")
        if part != b"1":
            faults.append(f"the data have an entry {id_.decode()}, which is no leaf")
        elif leaf is None or len(fields) > 1:
            faults.append(f"leaf {index} in the data can't be read: {fields!r}")
        else:
            leaves[index] = leaf
            if published.get(index, leaf) != leaf:
                faults.append(
                    f"leaf {index} is another one than the published leaf, which is signed"
                )
    if len(leaves) < len(page):
        first: Any = client.xrange(keys.log(shard), count=1)
        kept = int(first[0][0].split(b"-")[0]) if first else size
        rest = range(max(page.start, min(kept, size)), page.stop)
        lost = [index for index in rest if index not in leaves]
        faults += [
            f"leaf {index} is missing in the data, and is published"
            for index in lost[:1]
            if index < size
        ]
        faults += [f"leaf {index} is missing" for index in lost if index >= size]
    return PageFindings(leaves, faults)


def first_difference(
    rows: Iterable[tuple[int, bytes]], published: Sequence[bytes], start: int
) -> int | None:
    """Return the index of the first leaf that is not the published one; None if all are.

    The published leaves begin with index `start`; others are not compared.
    """
    wanted = dict(enumerate(published, start))
    return next((index for index, leaf in rows if wanted.get(index, leaf) != leaf), None)


class CounterFault(NamedTuple):
    """A counter of a shard that does not fit its log."""

    about: str
    sentence: str


def counter_faults(client: redis.Redis, store: Store, facts: LeafFacts) -> Iterator[CounterFault]:
    """Yield what does not fit in a shard's counters; they may be ahead of the leaves that were read.

    A counter that was set back would number a match as another one, or draw with a seed that was revealed.
    """
    try:
        yield from _board_faults(client, store, facts)
        yield from _seed_faults(store, facts)
    except (LookupError, ValueError, TypeError, ResponseError) as error:
        yield CounterFault(
            f"counters of shard {facts.shard}",
            f"the counters of shard {facts.shard} can't be read: {error!r}",
        )


def _board_faults(client: redis.Redis, store: Store, facts: LeafFacts) -> Iterator[CounterFault]:
    shard = facts.shard
    highest = BoardNumbers(client, store.layout()).highest_of(shard)
    if highest < facts.highest_board:
        yield CounterFault(
            "counter of boards",
            f"the counter of boards stands at {highest}, and shard {shard} has match "
            f"{facts.highest_board}: it was set back, and would hand numbers out again",
        )


def _seed_faults(store: Store, facts: LeafFacts) -> Iterator[CounterFault]:
    shard, about = facts.shard, f"seeds of shard {facts.shard}"
    present = store.seed_chain(shard)
    for chain, (index, anchor) in facts.anchors.items():
        found = store.anchor_index(shard, chain)
        if found != index:
            yield CounterFault(
                about,
                f"chain {chain} of seeds of shard {shard} was anchored as leaf {index}, and the data say "
                f"{'nothing' if found is None else f'leaf {found}'}",
            )
        elif present is not None and present.chain == chain and present.anchor != anchor:
            yield CounterFault(
                about,
                f"the anchor of chain {chain} of shard {shard} is another than in leaf {index}",
            )
    last = max([*facts.anchors, *facts.used], default=0)
    if present is None and not last:
        return
    if present is None or present.chain < last:
        yield CounterFault(
            about,
            f"shard {shard} draws from chain {present.chain if present else 0} of seeds, and chain "
            f"{last} {'was anchored' if last in facts.anchors else 'is in use'}",
        )
    elif present.chain == last and present.used < facts.used.get(last, 0):
        yield CounterFault(
            about,
            f"the counter of used seeds of shard {shard} stands at {present.used}, and seed "
            f"{facts.used[last]} was used: it was set back, and would draw with known seeds",
        )


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

    Of a log that can't be read now so many leaves are `recorded` to be published, and may be trimmed. `refresh` the log
    before; errors of the data's server pass through.
    """

    def __init__(
        self,
        client: redis.Redis,
        shard: int,
        shards: int,
        log: PublishedLog | None,
        secret: bytes,
        recorded: int = 0,
    ) -> None:
        self._client = client
        self._log = log
        self._secret = secret
        self._published = log.size if log else 0
        self._recorded = log.size if log else recorded
        self._is_cut = False
        """Whether leaves can't be read now, so that nobody knows whether the others are in order."""
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
            page = range(start, end)
            found = audit_page(self._client, self.scan.shard, page, published, self._recorded)
            for fault in found.faults:
                self._fault(fault)
            for index in page:
                leaf = found.leaves.get(index, published.get(index))
                if leaf is not None:
                    self._leaf(index, leaf)
                elif self._log is None and index < self._recorded:
                    self._is_cut = True
            advance(end - start)
        if self._log and tree.size == self._published:
            self._check_root(self._log, tree)
        if not self._is_cut:
            self.scan.faults += islice(self.scan.order.sentences(), MOST_FAULTS)
        return self.scan

    def _fault(self, sentence: str) -> None:
        if len(self.scan.faults) < MOST_FAULTS:
            self.scan.faults.append(f"the log of shard {self.scan.shard}: {sentence}")

    def _leaf(self, index: int, leaf: bytes) -> None:
        place = self.scan.order.add(index, leaf)
        if place is not None:
            self.scan.totals.add(place, leaf_number(self._secret, index, leaf))

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
