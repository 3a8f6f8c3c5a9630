"""Long work on projections that an operator asks for: rebuild them, or check them.

It runs in the terminal that asked, or as a job. Either way `WorkReport` receives how far it is.
"""

import time
from collections.abc import Sequence
from typing import Protocol

import redis

from infra.process.machine import few_collections
from infra.projections.projection import Projection
from infra.store.log_gate import read_ends
from infra.store.port import Store
from infra.store.scrub_notes import ScrubRecord
from workers.projections import PROJECTIONS
from workers.projections.feed import Feed
from workers.projections.processes import ShardProcesses
from workers.projections.rebuild import Rebuild, leaves_read, leaves_total
from workers.projections.shards import CHUNK, fold_shard
from workers.projections.verify import ProjectionVerifier


class WorkReport(Protocol):
    """Receives what the work has done so far."""

    def progress(self, about: str, done: int, total: int) -> None:
        """Receive how far it is."""
        ...

    def line(self, text: str) -> None:
        """Receive a result, as a line for the operator."""
        ...


def named(names: Sequence[str]) -> list[Projection]:
    """Return the projections of these names, or all if there is none; `KeyError` for an unknown one."""
    known = {projection.spec.name: projection for projection in PROJECTIONS}
    return [known[name] for name in dict.fromkeys(names)] or list(PROJECTIONS)


def rebuild(
    store: Store,
    client: redis.Redis,
    chosen: Sequence[Projection],
    report: WorkReport,
    buckets: int | None = None,
    processes: ShardProcesses | None = None,
) -> None:
    """Build all from one reading of the logs, and promote each as soon as it is complete.

    With `buckets` the new generations have so many, otherwise as many as the old ones. With `processes`
    these read the logs as far as they go now, if there is enough to read.
    `BusyError` if one is being built elsewhere, `StuckError` if one can't be rebuilt.
    """
    began = time.monotonic()
    feed = Feed(store, client)
    waiting: list[Rebuild] = []
    try:
        for projection in chosen:
            waiting.append(Rebuild(store, client, projection, buckets))  # noqa: PERF401 - dropped below if the next one fails
        everything = list(waiting)
        _fold_logs(store, client, everything, report, processes)
        while waiting:
            _advance(feed, waiting)
            report.progress("leaves", leaves_read(everything), leaves_total(everything))
            for done in [rebuild for rebuild in waiting if rebuild.promote(feed)]:
                waiting.remove(done)
                seconds = time.monotonic() - began
                name = done.projection.spec.name
                ScrubRecord(client).forget_lists(name)
                report.line(f"{name}: rebuilt from {done.leaves:,} leaves in {seconds:.1f} s")
    finally:
        for rebuild in waiting:
            rebuild.drop()


def _fold_logs(
    store: Store,
    client: redis.Redis,
    rebuilds: Sequence[Rebuild],
    report: WorkReport,
    processes: ShardProcesses | None,
) -> None:
    """Fold the logs up to where all rebuilds must read, one shard after the other or several at a time."""
    ends = rebuilds[0].goal.ends
    total = leaves_total(rebuilds)
    if processes is not None and (count := processes.count(ends)) > 1:
        about = f"leaves, by {count} processes"
        processes.fold(
            rebuilds, ends, lambda done: report.progress(about, done * len(rebuilds), total)
        )
        return
    feed, tracks = Feed(store, client, CHUNK), [one for each in rebuilds for one in each.tracks]
    with few_collections():
        for shard in range(len(ends)):
            for _ in fold_shard(feed, tracks, shard, ends):
                for rebuild in rebuilds:
                    rebuild.keep_alive()
                report.progress("leaves", leaves_read(rebuilds), total)


def _advance(feed: Feed, waiting: Sequence[Rebuild]) -> None:
    for rebuild in waiting:
        rebuild.keep_alive()
    if not feed.round([track for rebuild in waiting for track in rebuild.tracks]):
        for rebuild in waiting:
            rebuild.check_stuck()


def check(
    store: Store,
    client: redis.Redis,
    chosen: Sequence[Projection],
    report: WorkReport,
) -> bool:
    """Compare projections with new ones; return whether all are equal.

    Errors as of `rebuild`, and `Refusal` if the archive can't be read.
    """
    equal = [_check(store, client, projection, report) for projection in chosen]
    return all(equal)


def _check(
    store: Store,
    client: redis.Redis,
    projection: Projection,
    report: WorkReport,
) -> bool:
    name = projection.spec.name
    goal = sum(read_ends(client, range(store.shards)))

    def progress(leaves: int, keys: int) -> None:
        about = f"{name}: {keys:,} keys compared" if keys else name
        report.progress(about, min(leaves, goal), goal)

    result = ProjectionVerifier(store, client, projection, progress).run()
    if result.difference:
        report.line(
            f"{name}: differs from a rebuild of {result.leaves:,} leaves, first at {result.difference}; "
            f"`matchpost rebuild {name}` replaces it"
        )
        return False
    ScrubRecord(client).forget_lists(name)
    report.line(f"{name}: equal to a rebuild of {result.leaves:,} leaves, {result.keys:,} keys")
    return True
