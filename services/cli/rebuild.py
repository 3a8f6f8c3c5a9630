"""`matchpost rebuild [NAME ...] [--check]`: makes lists and ratings anew from the logs, or proves them.

It works while the server plays: a projection is built beside the one that is read, and takes its place
when it has read as much. With `--check` nothing is replaced; what is built is compared with what is
read, key by key. Exit codes: 0 done, or equal; 1 a difference, or a leaf that can't be taken in; 2
the server could not be asked.
"""

import sys
import time
from collections.abc import Sequence

import redis
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from infra.projections.shelf import BusyError
from infra.settings import Settings
from infra.store.port import Store
from services.compose import Composition
from services.problems import FINE, REFUSED
from workers.projections import PROJECTIONS
from workers.projections.feed import Feed
from workers.projections.projection import Projection
from workers.projections.rebuild import Rebuild, StuckError, leaves_read, leaves_total
from workers.projections.verify import ProjectionVerifier


def run(names: Sequence[str], check: bool, settings: Settings) -> int:  # noqa: FBT001 - from the command line
    """Rebuild or check the projections named, all if none is; gives the exit code."""
    chosen = _chosen(names)
    with Composition(settings) as parts:
        parts.store.shape()  # says so where there is no data
        try:
            if check:
                return max(_check(parts.store, parts.data, one) for one in chosen)
            _rebuild(parts.store, parts.data, chosen)
        except (BusyError, StuckError) as error:
            print(f"matchpost: {error}", file=sys.stderr)
            return REFUSED
    return FINE


def _chosen(names: Sequence[str]) -> list[Projection]:
    known = {projection.spec.name: projection for projection in PROJECTIONS}
    return [known[name] for name in dict.fromkeys(names)] or list(PROJECTIONS)


def _bar() -> Progress:
    """Return a progress bar on standard error, which shows nothing where that is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def _rebuild(store: Store, client: redis.Redis, chosen: Sequence[Projection]) -> None:
    """Build all at once, from one reading, and put each in its place when it is done."""
    began = time.monotonic()
    feed = Feed(store, client)
    waiting: list[Rebuild] = []
    try:
        for projection in chosen:
            waiting.append(Rebuild(store, client, projection))  # noqa: PERF401 - each is dropped, should the next fail
        everything = list(waiting)
        with _bar() as bar:
            task = bar.add_task("leaves", total=leaves_total(everything))
            while waiting:
                _go_on(feed, waiting)
                bar.update(task, completed=leaves_read(everything))
                for rebuild in [rebuild for rebuild in waiting if rebuild.promote()]:
                    waiting.remove(rebuild)
                    _tell(rebuild, began)
    finally:
        for rebuild in waiting:
            rebuild.drop()


def _go_on(feed: Feed, waiting: Sequence[Rebuild]) -> None:
    for rebuild in waiting:
        rebuild.keep_alive()
    if not feed.round([rebuild.track for rebuild in waiting]):
        for rebuild in waiting:
            rebuild.check_stuck()


def _tell(rebuild: Rebuild, began: float) -> None:
    leaves = sum(rebuild.track.checkpoint.counts)
    seconds = time.monotonic() - began
    name = rebuild.track.projection.spec.name
    print(f"{name}: rebuilt from {leaves:,} leaves in {seconds:.1f} s", flush=True)


def _check(store: Store, client: redis.Redis, projection: Projection) -> int:
    """Check one; gives the exit code."""
    name = projection.spec.name
    with _bar() as bar:
        goal = sum(store.watermark().ends)
        task = bar.add_task(name, total=goal)

        def progress(leaves: int, keys: int) -> None:
            said = f"{name}: {keys:,} keys compared" if keys else name
            bar.update(task, description=said, completed=min(leaves, goal))

        result = ProjectionVerifier(store, client, projection, progress).run()
    if result.difference:
        print(
            f"{name}: differs from what {result.leaves:,} leaves make, first at {result.difference}"
        )
        return REFUSED
    print(f"{name}: equal to what {result.leaves:,} leaves make, {result.keys:,} keys", flush=True)
    return FINE
