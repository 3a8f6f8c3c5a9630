"""`matchpost rebuild [NAME ...] [--check] [--buckets N]`: rebuild lists and ratings from the logs, or check them.

It works while the server runs: a new projection is built beside the live one, and replaces it once it
has read as much of the logs. With `--check` nothing is replaced: the new one is compared with the live
one, key by key. Exit codes: 0 done, or equal; 1 a difference, or a leaf that can't be read; 2 the
server does not answer.
"""

import sys
import time
from collections.abc import Sequence

import redis
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from infra.projections.generations import BusyError
from infra.projections.projection import Projection
from infra.settings import Settings
from infra.store.port import Store
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_REFUSED
from workers.projections import PROJECTIONS
from workers.projections.feed import Feed
from workers.projections.rebuild import Rebuild, StuckError, leaves_read, leaves_total
from workers.projections.verify import ProjectionVerifier


def run(names: Sequence[str], check: bool, settings: Settings, buckets: int | None = None) -> int:  # noqa: FBT001 - called by keyword
    """Rebuild or check the named projections, or all, and return the exit code."""
    chosen = _chosen(names)
    if check and buckets is not None:
        print("matchpost: --check compares the buckets that there are", file=sys.stderr)
        return EXIT_REFUSED
    with App(settings) as parts:
        parts.store.layout()  # raises LookupError if there is no data
        try:
            if check:
                return max(_check(parts.store, parts.data, one) for one in chosen)
            _rebuild(parts.store, parts.data, chosen, buckets)
        except (BusyError, StuckError) as error:
            print(f"matchpost: {error}", file=sys.stderr)
            return EXIT_REFUSED
    return EXIT_OK


def _chosen(names: Sequence[str]) -> list[Projection]:
    known = {projection.spec.name: projection for projection in PROJECTIONS}
    return [known[name] for name in dict.fromkeys(names)] or list(PROJECTIONS)


def _bar() -> Progress:
    """Return a progress bar on standard error; it is hidden if that is no terminal."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def _rebuild(
    store: Store, client: redis.Redis, chosen: Sequence[Projection], buckets: int | None
) -> None:
    """Build all from one reading of the logs, and promote each as soon as it is complete."""
    began = time.monotonic()
    feed = Feed(store, client)
    waiting: list[Rebuild] = []
    try:
        for projection in chosen:
            waiting.append(Rebuild(store, client, projection, buckets))  # noqa: PERF401 - dropped below if the next one fails
        everything = list(waiting)
        with _bar() as bar:
            task = bar.add_task("leaves", total=leaves_total(everything))
            while waiting:
                _advance(feed, waiting)
                bar.update(task, completed=leaves_read(everything))
                for rebuild in [rebuild for rebuild in waiting if rebuild.promote(feed)]:
                    waiting.remove(rebuild)
                    _report(rebuild, began)
    finally:
        for rebuild in waiting:
            rebuild.drop()


def _advance(feed: Feed, waiting: Sequence[Rebuild]) -> None:
    for rebuild in waiting:
        rebuild.keep_alive()
    if not feed.round([track for rebuild in waiting for track in rebuild.tracks]):
        for rebuild in waiting:
            rebuild.check_stuck()


def _report(rebuild: Rebuild, began: float) -> None:
    seconds = time.monotonic() - began
    name = rebuild.projection.spec.name
    print(f"{name}: rebuilt from {rebuild.leaves:,} leaves in {seconds:.1f} s", flush=True)


def _check(store: Store, client: redis.Redis, projection: Projection) -> int:
    """Compare one projection with a new one, and return the exit code."""
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
            f"{name}: differs from a rebuild of {result.leaves:,} leaves, first at {result.difference}; "
            f"`matchpost rebuild {name}` replaces it"
        )
        return EXIT_REFUSED
    print(
        f"{name}: equal to a rebuild of {result.leaves:,} leaves, {result.keys:,} keys", flush=True
    )
    return EXIT_OK
