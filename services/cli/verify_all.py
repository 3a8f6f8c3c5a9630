"""`matchpost verify --all`: check all matches and all logs, with all processors, beside a server that runs."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from typing import Final, NamedTuple, TextIO

import msgspec
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from domain.refusal_audit import NotDecidedAgain
from infra.audit.leaf_totals import LeafTotals, TotalsSlice, new_secret
from infra.audit.log import ShardScanner, counter_faults
from infra.audit.match import CheckedMatches, describe_refusals
from infra.audit.match_batches import MatchBatches
from infra.audit.published_match import NotCompared, open_published
from infra.log.published_log import PublishedLogs
from infra.settings.settings import Settings
from infra.store.board_numbers import BoardNumbers
from infra.store.failures import DamagedMatches
from infra.store.watermarks import read_published_sizes
from services.app.context import App
from services.cli.verify import VerifyReport

_MOST_NOTED: Final = 1_000
"""Damaged matches that are noted for the doctor."""

_TOGETHER: Final = 256
"""Matches of one task of a process."""

_NICENESS: Final = 10
"""The server that runs comes first."""

_LINE_SECONDS: Final = 10.0
"""Seconds between two lines of progress where no terminal shows a bar."""


class ScannedShard(msgspec.Struct):
    """The log of a shard, as a process has checked it."""

    shard: int
    end: int
    published: int
    places: int
    """So many places of boards there are, of which each may have a match."""
    totals: LeafTotals
    faults: list[str]
    not_compared: str
    """Why the log was not compared with the published one; empty if it was."""
    recorded: int
    """How many leaves the data say are published."""


class _Process(NamedTuple):
    """The parts of one of the processes."""

    app: App
    logs: PublishedLogs
    secret: bytes


_processes: list[_Process] = []


def begin_process(settings: Settings, secret: bytes, niceness: int = _NICENESS) -> None:
    """Make the parts of a process, which lets the server go first."""
    os.nice(niceness)
    import_module("infra.settings.game_packages").load_games()
    _processes[:] = [_Process(App(settings), PublishedLogs(settings), secret)]


def scan_shard(shard: int) -> ScannedShard:
    """Check the log of a shard."""
    app, logs, secret = _processes[0]
    layout = app.store.layout()
    recorded = read_published_sizes(app.data, layout.shards)[shard].size
    log, reason = None, ""
    try:
        log = open_published(logs.of, shard, recorded)
    except NotCompared as error:
        reason = str(error)
    scanner = ShardScanner(app.data, shard, layout.shards, log, secret, recorded)
    scan = scanner.run()
    counters = counter_faults(app.data, app.store, scan.order)
    faults = [*scan.faults, *(fault.sentence for fault in counters)]
    highest = BoardNumbers(app.data, layout).highest_of(shard)
    if not reason and not scan.published and scan.end:
        reason = f"nothing of shard {shard} is published yet"
    return ScannedShard(
        shard,
        scan.end,
        scan.published,
        max(highest, scan.order.highest_board) // layout.shards + 1,
        scan.totals,
        faults,
        reason,
        recorded,
    )


def check_matches(shard: int, end: int, totals: TotalsSlice, places: range) -> CheckedMatches:
    """Check matches of a shard whose log was checked up to `end`."""
    app, _, secret = _processes[0]
    return MatchBatches(app.store, shard, end, secret).check(totals, places)


class Findings:
    """The findings so far of all processes."""

    def __init__(self) -> None:
        self.matches = CheckedMatches()
        self.shards: dict[int, ScannedShard] = {}

    @property
    def faults(self) -> Iterator[str]:
        """Return a sentence for each fault: those of logs, then those of matches."""
        for scanned in self.shards.values():
            yield from scanned.faults
        yield from self.matches.sentences()

    @property
    def not_compared(self) -> Iterator[str]:
        """Return a sentence for all that could not be checked."""
        for scanned in self.shards.values():
            if scanned.not_compared:
                yield f"its leaves were not compared with the published log: {scanned.not_compared}"
        for board, why in sorted(self.matches.unread.items()):
            yield f"match {board} can't be read right now: {why}"

    def report(self) -> VerifyReport:
        """Return the report."""
        lost = any(one.not_compared and one.recorded for one in self.shards.values())
        return VerifyReport(
            faults=[*self.faults],
            unchecked=[*self.not_compared],
            summary=self.summary(),
            is_unknown=lost or bool(self.matches.unread),
        )

    def exit_code(self) -> int:
        """Return the exit code."""
        return self.report().exit_code

    def summary(self) -> str:
        """Return the summary in plain words."""
        found = self.matches
        bad = len(found.faults) + len(found.unread)
        leaves = sum(one.end for one in self.shards.values())
        published = sum(one.published for one in self.shards.values())
        head = (
            f"{found.matches - bad} of {found.matches} matches hold"
            if bad
            else (f"all {found.matches} matches hold" if found.matches else "there is no match")
        )
        refusals: Mapping[NotDecidedAgain | None, int] = found.refusals
        return (
            f"{head}: {found.events} events in sequence, chained, and decided again with the same result; "
            f"snapshots, outcomes and logs agree{describe_refusals(refusals)}; the logs of "
            f"{len(self.shards)} shards have {leaves} leaves, of which {published} are in the published log, "
            "whose signed roots were made again from them"
        )


def run(settings: Settings) -> VerifyReport:
    """Check everything, and return what holds and what does not."""
    with App(settings) as parts:
        shards = parts.store.shards
        context = get_context("spawn")
        with (
            _progress(sys.stderr) as progress,
            ProcessPoolExecutor(
                os.cpu_count(), context, begin_process, (settings, new_secret())
            ) as pool,
        ):
            found = check_everything(pool, shards, progress)
        note_damage(parts.damage, found.matches)
    return found.report()


def note_damage(damage: DamagedMatches, checked: CheckedMatches) -> None:
    """Note the damaged matches for the doctor, and remove those that hold."""
    for board, why in [*checked.faults.items()][:_MOST_NOTED]:
        damage.note(board, why)
    for board in damage.all():
        if board not in checked.faults and board not in checked.unread:
            damage.forget(board)


def check_everything(
    pool: Executor, shards: int, progress: Callable[[str, int, int], None] = lambda *_: None
) -> Findings:
    """Check all logs and all matches; `progress` gets the kind of work, how much is done, and of how much."""
    found = Findings()
    try:
        scans = [pool.submit(scan_shard, shard) for shard in range(shards)]
        for number, scan in enumerate(scans):
            progress("logs", number, shards)
            scanned = scan.result()
            found.shards[scanned.shard] = scanned
        progress("logs", shards, shards)
        _check_matches(pool, found, progress)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    return found


def _check_matches(
    pool: Executor, found: Findings, progress: Callable[[str, int, int], None]
) -> None:
    """Check the matches of all shards, some tasks ahead."""
    total = sum(scanned.places for scanned in found.shards.values())
    tasks = _match_tasks(pool, found)
    waiting: dict[Future[CheckedMatches], int] = {}
    done = 0
    while True:
        while len(waiting) < 4 * (os.cpu_count() or 1) and (task := next(tasks, None)):
            waiting[task[0]] = task[1]
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            done += waiting.pop(future)
            found.matches.add(future.result())
        progress("matches", done, total)


def _match_tasks(pool: Executor, found: Findings) -> Iterator[tuple[Future[CheckedMatches], int]]:
    for scanned in found.shards.values():
        for first in range(0, scanned.places, _TOGETHER):
            places = range(first, min(first + _TOGETHER, scanned.places))
            totals = scanned.totals.cut(first, places.stop)
            yield (
                pool.submit(check_matches, scanned.shard, scanned.end, totals, places),
                len(places),
            )


@contextmanager
def _progress(err: TextIO) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows progress: a bar at a terminal, else a line from time to time."""
    if not err.isatty():
        yield _line_from_time_to_time(err)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(file=err)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as shown:
        tasks: dict[str, TaskID] = {}

        def bar(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = shown.add_task(what, total=total)
            shown.update(tasks[what], completed=done)

        yield bar


def _line_from_time_to_time(err: TextIO) -> Callable[[str, int, int], None]:
    last = time.monotonic()

    def line(what: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _LINE_SECONDS:
            last = time.monotonic()
            print(f"{what}: {done} of {total}", file=err, flush=True)

    return line
