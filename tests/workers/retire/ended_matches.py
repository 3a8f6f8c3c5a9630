"""The boards that the tests of retirement play, and what a store has of them."""

from collections.abc import Mapping
from typing import Any

from infra.archive.directory_pages import DirectoryEntry
from infra.archive.objects import PageStore
from infra.store.port import Store
from tests.helpers.archiving import Archiving
from tests.helpers.bench import Bench

SHARD = 1
OVER, ACTIVE, LATER_OVER = 1, 5, 9
"""Boards of shard 1; the second goes on."""


def entry_of(archiving: Archiving, board: int) -> DirectoryEntry | None:
    return PageStore(archiving.objects).read(4, SHARD, 0)[0].find(board)


def listed(bench: Bench) -> list[int]:
    return bench.store.ended_boards(SHARD, 1 << 50, 10)


def reads(store: Store, board: int) -> Mapping[str, Any]:
    return {
        "events": store.events(board),
        "outcomes": dict(store.outcomes(board)),
        "indexes": store.leaf_indexes(board),
        "head": [snapshot and snapshot.state[:32] for snapshot in store.snapshots([board])],
    }
