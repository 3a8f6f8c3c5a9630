"""`matchpost rebuild [NAME ...] [--check] [--buckets N] [--processes N]`: rebuild lists and ratings from the logs, or check them.

It works while the server runs: a new projection is built beside the live one, and replaces it once it
has read as much of the logs. With `--check` nothing is replaced: the new one is compared with the live
one, key by key. Where a worker takes maintenance jobs it is a job, which the terminal follows; else it
runs here. Exit codes: 0 done, or equal; 1 a difference, or a leaf that can't be read; 2 the server does
not answer, or the job failed.
"""

import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rq.job import Job

from domain.errors import Refusal
from infra.projections.generations import BusyError
from infra.redis.rq_jobs import CHECK, MAINTENANCE, REBUILD
from infra.settings.settings import Settings
from infra.store import maintenance_jobs
from services.app.context import App, open_parts
from services.app.error_codes import EXIT_OK, EXIT_REFUSED, EXIT_UNKNOWN
from workers.projections import maintenance
from workers.projections.processes import ShardProcesses
from workers.projections.rebuild import StuckError

_LOOK_SECONDS: Final = 0.2


class _Terminal:
    """Shows progress as a bar on standard error, which is hidden if that is no terminal."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None)

    def progress(self, about: str, done: int, total: int) -> None:
        """Show how far the work is."""
        self._bar.update(self._task, description=about, completed=done, total=total)

    def line(self, text: str) -> None:
        """Print a result."""
        print(text, flush=True)


def run(
    names: Sequence[str],
    check: bool,  # noqa: FBT001 - called by keyword
    settings: Settings,
    buckets: int | None = None,
    processes: int | None = None,
) -> int:
    """Rebuild or check the named projections, or all, and return the exit code."""
    chosen = maintenance.named(names)
    if check and buckets is not None:
        _print_error("--check compares the buckets that there are")
        return EXIT_REFUSED
    if check and processes is not None:
        _print_error("--check compares in one process")
        return EXIT_REFUSED
    with App(settings) as parts, _bar() as bar:
        parts.store.layout()  # raises LookupError if there is no data
        terminal = _Terminal(bar)
        if maintenance_jobs.has_worker(parts.queue):
            job = maintenance_jobs.enqueue(
                parts.queue, CHECK if check else REBUILD, names, buckets, processes
            )
            return _follow(job, terminal)
        _print_error(f"no worker takes jobs from the queue {MAINTENANCE}, so it runs here")
        try:
            if check:
                equal = maintenance.check(parts.store, parts.data, chosen, terminal)
                return EXIT_OK if equal else EXIT_REFUSED
            helpers = ShardProcesses(partial(open_parts, settings), processes)
            maintenance.rebuild(parts.store, parts.data, chosen, terminal, buckets, helpers)
        except (BusyError, StuckError, Refusal) as error:
            _print_error(str(error))
            return EXIT_REFUSED
    return EXIT_OK


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


def _follow(job: Job, terminal: _Terminal) -> int:
    """Show a job's progress until it is over, and return the exit code."""
    printed = 0
    try:
        for meta in maintenance_jobs.follow(job, partial(time.sleep, _LOOK_SECONDS)):
            lines = meta.get("lines", [])
            for line in lines[printed:]:
                terminal.line(line)
            printed = max(printed, len(lines))
            if "total" in meta:
                terminal.progress(meta["about"], meta["done"], meta["total"])
    except KeyboardInterrupt:
        _print_error(
            f"the job {job.id} goes on; the same command follows it again, and `rq info` lists it"
        )
        raise
    if error := job.meta.get("error"):
        _print_error(error)
    code = maintenance_jobs.exit_code(job)
    if code is None:
        _print_error(f"the job {job.id} failed; its worker's log and RQ's tools say why")
        return EXIT_UNKNOWN
    return code


def _print_error(text: str) -> None:
    print(f"matchpost: {text}", file=sys.stderr, flush=True)
