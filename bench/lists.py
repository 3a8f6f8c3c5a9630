"""Lists of finished matches: bytes of a match, and time to read 50 rows, before and after rows leave the server.

It begins as after a rebuild: with all matches in the archive, and all rows in the server.
"""

import gc
import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

import redis

from bench.harness import SHARDS, BenchEnvironment
from bench.memory import used_memory
from bench.report import Report
from bench.workload import ListedMatch, finished
from infra.archive.archive import Archive
from infra.archive.directory_pages import DirectoryPage, page_number
from infra.archive.objects import open_archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.projections.buckets import HISTORY, LISTS
from infra.projections.finished_matches import FinishedMatches
from infra.projections.match_lists import MatchFilter, MatchLists
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.layout import Layout
from workers.archived_rows import ArchivedRows
from workers.projections import PROJECTIONS
from workers.projections.worker import ProjectionWorker

_ROWS, _READS = 50, 15
"""Rows of a read; reads of each part of a list, each from one row further on."""

_ONE, _OTHER = b"P0000000", b"P0000001"
_LISTS: Final[dict[str, tuple[str | None, bytes | None, bytes | None]]] = {
    "player": (None, _ONE, None),
    "player and game": ("pow2", _ONE, None),
    "game": ("pow2", None, None),
    "two players": ("pow2", _ONE, _OTHER),
}
"""The game and the players of each list."""


def run(bench: BenchEnvironment, matches: int, players: int, buckets: Sequence[int]) -> Report:
    """Measure with each number of buckets; the rate is of reads from the archive with nothing cached."""
    played = list(finished(matches, players))
    gc.freeze()  # a reader has none of these
    found = [_measure(bench, played, count) for count in dict.fromkeys(buckets)]
    tables = [table for one in found for table in one["ms, in the archive"].values()]
    cold = [part["cold"] for table in tables for part in table.values()]
    details = {"matches": matches, "players": players, "with buckets": found, **bench.disk()}
    rate = 1_000 * len(cold) / sum(cold)
    return Report(rate=rate, unit=f"lists of {_ROWS} rows", peers={}, details=details)


def _measure(bench: BenchEnvironment, played: list[ListedMatch], buckets: int) -> dict[str, Any]:
    """Return the figures with so many buckets."""
    found: dict[str, Any] = {"buckets": buckets}
    with bench.server(f"lists-{buckets}") as server, server.client() as client:
        _fill(bench, client, played)
        empty = used(client)
        folds = [one for one in PROJECTIONS if one.spec in (LISTS, HISTORY)]
        worker = ProjectionWorker(_new_store(bench, client), client, folds, buckets=buckets)
        while worker.round():
            pass
        for where in "rows in the server", "in the archive":
            began = time.perf_counter()
            if where == "in the archive":
                gone = sum(iter(ArchivedRows(client, SHARDS).take_leftovers, None))
                if gone != len(played):
                    raise RuntimeError(f"{gone} rows of {len(played)} left the server")
                found["rows that leave a second"] = round(gone / (time.perf_counter() - began))
            found[f"bytes a match, {where}"] = round((used(client) - empty) / len(played), 1)
            found[f"ms, {where}"] = _read_all(bench, client, played)
    return found


def used(client: redis.Redis) -> int:
    """Return the bytes of the data; statistics of commands, which are of one size, take 0.8 MB."""
    client.config_resetstat()
    return used_memory(client)


def _new_store(bench: BenchEnvironment, client: redis.Redis) -> StoreWithArchive:
    """Return a store that has nothing cached but the layout."""
    archive = Archive(lambda: open_archive(Settings(data=bench.folder)), lambda: SHARDS)
    store = StoreWithArchive(client, Mode.FSYNC, archive)
    store.create(Layout(SHARDS, 1))
    return store


def _fill(bench: BenchEnvironment, client: redis.Redis, played: list[ListedMatch]) -> None:
    """Write the logs in the order of time, and all matches to the archive."""
    pages, _ = open_archive(Settings(data=bench.folder))
    entries, leaves, ends = defaultdict(list), list[tuple[int, int, bytes]](), [0] * SHARDS
    with client.pipeline(transaction=False) as pipe:
        for entry, first, last in played:
            shard = keys.shard_of(entry.board, SHARDS)
            entries[shard, page_number(entry.board, SHARDS)].append(entry)
            leaves += [(entry.first_at, shard, first), (entry.last_at, shard, last)]
            pipe.setbit(*keys.archive_mark(entry.board, SHARDS), 1)
        for _, shard, leaf in sorted(leaves):
            pipe.xadd(keys.log(shard), {"l": leaf}, id=f"{ends[shard]}-1")
            ends[shard] += 1
        pipe.execute()
    for (shard, number), some in entries.items():
        pages.replace(DirectoryPage.empty(SHARDS, shard, number).with_entries(some), None)


def _read_all(bench: BenchEnvironment, client: redis.Redis, played: list[ListedMatch]) -> Any:
    """Return the median times of reads of each part of each list, ms."""
    found: dict[str, Any] = {}
    newest = sorted(
        [(one.last_at, b"%d" % one.board, one.summary) for one, _, _ in played if one.summary]
    )[::-1]
    for name, (game, *players) in _LISTS.items():
        some = {one for one in players if one}
        of_list = [
            one for one in newest if one[2].rules.startswith(game or "") and some <= {*one[2].seats}
        ]
        boards = [int(board) for _, board, _ in of_list]
        end = max(0, len(boards) - _ROWS - _READS)
        parts: dict[str, Any] = found.setdefault(f"{name}, {len(boards)} matches", {})
        for part, start in ("newest", 0), ("middle", end // 2), ("oldest", end):
            times = [_read(bench, client, name, boards, start + at) for at in range(_READS)]
            parts[part] = {key: round(median(one[key] for one in times), 2) for key in times[0]}
    return found


def _read(
    bench: BenchEnvironment, client: redis.Redis, name: str, boards: Sequence[int], start: int
) -> dict[str, float]:
    """Return the times of a read, with nothing cached and again; RuntimeError if a row is wrong."""
    history = FinishedMatches(client, _new_store(bench, client).entries)
    lists, (game, one, other) = MatchLists(client, history), _LISTS[name]
    history.count(game, one, other)  # finds the live generation, as a process does each second
    times: dict[str, float] = {}
    for word in "cold", "warm":
        processor, wall = time.process_time(), time.perf_counter()
        if one and not other:
            rows: list[Any] = lists.of(one, MatchFilter.INACTIVE, game, start, _ROWS)
        else:
            rows = history.of(game, one, other, start, _ROWS)
        times[word] = 1e3 * (time.perf_counter() - wall)
        times[f"{word}, processor"] = 1e3 * (time.process_time() - processor)
        if [row.board for row in rows] != boards[start : start + _ROWS]:
            raise RuntimeError(f"the list of a {name} has other rows than it must have")
    return times
