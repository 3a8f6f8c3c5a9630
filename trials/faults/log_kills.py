"""Kills in the middle of publishing, retiring and restoring, under load.

A station whose published log and archive are watched, and what is checked of them at the end (I5).
"""

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Self

from redis import Redis

from domain.clocks.time_control import DAY
from infra.health.retirement_limits import retirement_limits
from infra.process.failpoints import FAILPOINTS, VARIABLE
from infra.redis import keys
from infra.store import locators
from infra.store.closed_shards import ClosedShards
from infra.store.leases import LaneLeases
from infra.store.rq_wakeup import enqueue_drain
from infra.store.watermarks import read_published_sizes
from tests.helpers.forked import SCRIPT
from tests.helpers.gateways import StoreGateway
from tests.helpers.served import queue_of, until
from trials.faults.checker import (
    Held,
    Violation,
    archived_boards,
    now,
    read_board,
    store_with_archive,
)
from trials.faults.load import DOWN, Load
from trials.faults.published import ObjectWatcher, check_acknowledged, check_log, check_same
from trials.faults.results import Outcome
from trials.faults.station import Station, gone, kill, progress, since
from workers.log.job import JOB
from workers.retire import retire_job

MERGE_SECONDS = 60.0
"""In which every leaf is published, once nothing is killed."""

PATIENCE_SECONDS = 180.0
"""For the same where a kill is in between, and the machine has other work to do."""

PUBLISHER = "small_steps.py publisher"
"""A part of its command line."""

PROGRAM = Path(__file__).with_name("small_steps.py")


class LogStation(Station):
    """A station of small steps; a context manager that starts and ends it.

    Each of the fault points is armed by a file of its own.
    """

    def __init__(
        self, folder: Path, points: Sequence[str], shards: int, env: Mapping[str, str] | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.armed_by = {point: folder / f"once-{point}" for point in points}
        fault = ",".join(f"{point}:1:{file}" for point, file in self.armed_by.items())
        more = {VARIABLE: fault, "MATCHPOST_SHARDS": str(shards), **(env or {})}
        python = str(SCRIPT.with_name("python"))
        super().__init__(folder, more, argv=(python, str(PROGRAM), "serve"), trims=True)
        self.shards = shards
        self.watcher = ObjectWatcher(self.data / "log")

    def __enter__(self) -> Self:
        self.start()
        self.watcher.__enter__()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self.watcher.__exit__(kind, error, trace)
        finally:
            self.end()

    def restart(self) -> None:
        """Kill the whole server, with all its processes, and start it again."""
        self.served.end(signal.SIGKILL)
        self.served.start()

    def publisher(self) -> int | None:
        """Return the process id of the publisher, if it runs."""
        found = self.children(PUBLISHER)
        return found[0] if found else None

    def wake_publisher(self) -> None:
        """Request a run of the publisher as if the lease of a killed one had expired."""
        with self.connect_queue() as queue:
            queue.pexpire(keys.lease(JOB.lease), 1)
            time.sleep(0.002)
            JOB.request(queue)

    def ends(self) -> list[int]:
        """Return how many leaves each log has."""
        with self.connect() as client:
            return [_end(client, shard) for shard in range(self.shards)]

    def wait_until_published(
        self, ends: list[int] | None = None, seconds: float = PATIENCE_SECONDS
    ) -> None:
        """Wait until so many leaves of each shard are published, or all that there are now."""
        aim = ends or self.ends()

        def published() -> bool:
            with self.connect() as client:
                sizes = [one.size for one in read_published_sizes(client, self.shards)]
            return all(size >= end for size, end in zip(sizes, aim, strict=True))

        until(published, seconds)

    def gateway(self, client: Redis, *, ago_ms: int = 0) -> StoreGateway:
        """Return a gateway that answers from the archive, too; its commands are received so long ago."""
        queue = queue_of(client)
        store = store_with_archive(client, self.data)
        if ago_ms:
            at = store.now() - ago_ms
            store._clock = lambda: at
        leases = LaneLeases(queue, lambda lane: enqueue_drain(queue, lane))
        return StoreGateway(store, leases, queue)

    def play(self, **options: object) -> Load:
        """Return a load whose players see the archive."""
        given = {"open_door": self.gateway, "open_store": self.open_store, **options}
        return self.load(**given)

    def check(self) -> tuple[list[str], Held]:
        """Wait until everything is published; return all violations, and what the store holds."""
        found = self.violations()
        late: list[Violation] = []
        try:
            self.wait_until_published(seconds=MERGE_SECONDS)
        except AssertionError:
            late.append(Violation("I5", f"not all leaves are published after {MERGE_SECONDS} s"))
        held = self.read()
        leaves = {shard: [leaf for _, leaf in log] for shard, log in held.logs.items()}
        wrong = check_log(self.data, self.watcher, held)
        violations = [*late, *wrong, *check_acknowledged(self.record, leaves)]
        return [*found, *map(str, violations)], held


def _end(client: Redis, shard: int) -> int:
    """Return the index of a log's next leaf; its first may be trimmed."""
    last = client.xrevrange(keys.log(shard), count=1)
    return int(last[0][0].split(b"-")[0]) + 1 if last else 0


PUBLISH_POINTS = tuple(p for p in FAILPOINTS if p.startswith("publish."))
RESTORE_POINTS = tuple(p for p in FAILPOINTS if p.startswith("restore."))
RETIRE_POINTS = tuple(p for p in FAILPOINTS if p.startswith("retire."))

RESTART_EVERY = 10
"""Kills after which the whole server is killed as well."""

WAIT_SECONDS = 180.0
"""For what has to happen by itself; a machine with other work to do may take long."""

_AT_A_START = ("publish.started", "publish.taken", "publish.trimmed")
_AT_AN_END = ("publish.released", "publish.left")


def at_log_points(points: Sequence[str], kills: int, folder: Path) -> Outcome:
    """Kill whatever process passes a point, so many times at each, under load; all of one kind."""
    run = {"publish": _publishing, "restore": _restoring, "retire": _retiring}
    return run[points[0].partition(".")[0]](points, kills, folder)


def _outcome(
    points: Sequence[str], kills: int, times: list[float], station: LogStation, wrong: list[str]
) -> Outcome:
    return Outcome(
        name="kill-" + "-".join(points),
        what="SIGKILL at " + ", ".join(f"`{point}`" for point in points),
        wanted=kills * len(points),
        faults=len(times),
        acknowledged=station.record.acknowledged(),
        violations=wrong,
        seconds=max(times, default=0.0),
        details={"leaves": sum(station.ends()), **station.watcher.counts},
    )


def _each(points: Sequence[str], kills: int, station: LogStation) -> Iterator[tuple[str, int]]:
    """Yield each point so often, with a number, and kill the whole server from time to time."""
    for number, point in enumerate(point for point in points for _ in range(kills)):
        if number and number % RESTART_EVERY == 0:
            station.restart()
        yield point, number


def _publishing(points: Sequence[str], kills: int, folder: Path) -> Outcome:
    times: list[float] = []
    with LogStation(folder, points, shards=2) as station:
        with station.play(players=4, plies=10, pace=0.01) as load:
            for point, _ in _each(points, kills, station):
                progress(load, 2, WAIT_SECONDS)
                times.append(_kill_the_publisher(point, station))
        violations, _ = station.check()
        return _outcome(points, kills, times, station, violations)


def _kill_the_publisher(point: str, station: LogStation) -> float:
    """Have it killed; return the seconds until all leaves of that time were published."""
    once = station.armed_by[point]
    until(station.publisher, WAIT_SECONDS)
    once.touch()
    if point in _AT_A_START:
        kill(station.publisher() or 0)
        station.wake_publisher()
    if point in _AT_AN_END:
        _end_a_run(station)
    until(gone(once), WAIT_SECONDS)
    began, ends = now(), station.ends()
    station.wake_publisher()
    station.wait_until_published(ends)
    return since(began)


def _end_a_run(station: LogStation) -> None:
    """Ask the publisher to end in good order, once it is at work."""
    before = station.publisher()
    with station.connect_queue() as queue:
        until(lambda: queue.exists(keys.lease("publish")), WAIT_SECONDS)
    os.kill(before or 0, signal.SIGTERM)


# restoring


def _restoring(points: Sequence[str], kills: int, folder: Path) -> Outcome:
    times: list[float] = []
    violations: list[str] = []
    left = dict.fromkeys(points, kills)
    with LogStation(folder, points, shards=4) as station:
        while any(left.values()):
            before = _roll_back(station)
            for point in points:
                if left[point]:
                    station.armed_by[point].touch()
            station.served.start()
            with station.play(players=2, plies=8) as load:
                times += _kill_while_restoring(station, before, left)
                progress(load, 2, WAIT_SECONDS)
            violations += map(str, check_same(before, station.read(), "restored"))
        found, _ = station.check()
        return _outcome(points, kills, times, station, [*violations, *found])


def _roll_back(station: LogStation) -> Held:
    """Play, take a copy, play on until all is published, kill the server and put the copy back.

    Return what the store held at the end.
    """
    data, copy = station.data / "valkey", station.folder / "copy"
    with station.play(players=4, plies=8, pace=0.0) as load:
        progress(load, 8, WAIT_SECONDS)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(data, copy)
        before = station.ends()
        until(lambda: _all_grew(station, before), WAIT_SECONDS)
        progress(load, 100, WAIT_SECONDS)
    station.wait_until_drained()
    station.wait_until_published()
    held = station.read()
    station.served.end(signal.SIGKILL)
    shutil.rmtree(data)
    shutil.copytree(copy, data)
    return held


def _all_grew(station: LogStation, before: list[int]) -> bool:
    return all(end > was for end, was in zip(station.ends(), before, strict=True))


def _kill_while_restoring(
    station: LogStation, before: Held, left: dict[str, int]
) -> Iterator[float]:
    """Yield the seconds from each kill to the next one, or to the opening of all shards."""
    ends = [len(log) for log in before.logs.values()]
    armed = {point for point, count in left.items() if count}

    def passed() -> list[str]:
        return [point for point in armed if not station.armed_by[point].exists()]

    began = 0
    while True:
        until(lambda: passed() or _is_restored(station, ends), WAIT_SECONDS)
        if began:
            yield since(began)
        found = passed()
        if not found:
            break
        began = now()
        for point in found:
            left[point] -= 1
            if left[point]:
                station.armed_by[point].touch()
            else:
                armed.remove(point)
        station.wake_publisher()
    for point in armed:
        station.armed_by[point].unlink(missing_ok=True)


def _is_restored(station: LogStation, ends: list[int]) -> bool:
    with station.connect() as client:
        if ClosedShards(client).read(range(station.shards)):
            return False
    return all(end >= was for end, was in zip(station.ends(), ends, strict=True))


# retiring


class Copies:
    """What the store had of each match when it ended."""

    def __init__(self, station: LogStation) -> None:
        self._station = station
        self._lock = threading.Lock()
        self.held = Held(station.shards, {}, {}, {}, {}, {})

    def add(self, board: int) -> None:
        """Copy a match, unless it is retired already, as soon as the server answers."""
        until(lambda: self._is_read(board), WAIT_SECONDS)

    def _is_read(self, board: int) -> bool:
        one = Held(self._station.shards, {}, {}, {}, {}, {})
        try:
            with self._station.connect() as client:
                read_board(client, one, board)
        except DOWN:
            return False
        with self._lock:
            if one.events[board]:
                self.held.events |= one.events
                self.held.snapshots |= one.snapshots
                self.held.outcomes |= one.outcomes
                self.held.locators |= one.locators
        return True


def _retiring(points: Sequence[str], kills: int, folder: Path) -> Outcome:
    times: list[float] = []
    days = {"MATCHPOST_ARCHIVE_AFTER": "1"}
    with LogStation(folder, points, shards=2, env=days) as station:
        copies = Copies(station)
        door = partial(station.gateway, ago_ms=2 * DAY)
        with station.play(players=4, plies=4, pace=0.02, open_door=door, on_end=copies.add) as load:
            for point, number in _each(points, kills, station):
                shard = number % station.shards
                times.append(_kill_a_retirement(station, load, shard, station.armed_by[point]))
        with station.connect() as client:
            retired = archived_boards(client, station.shards)
        violations, held = station.check()
        violations += map(str, check_same(copies.held, held, "retired"))
        found = _outcome(points, kills, times, station, violations)
        found.details["retired"] = len(retired)
        return found


def _kill_a_retirement(station: LogStation, load: Load, shard: int, once: Path) -> float:
    """Have a job killed; return the seconds until another has retired what was due."""
    due: list[int] = []
    until(lambda: due.extend(_due(station, shard)) or due, WAIT_SECONDS)  # type: ignore[func-returns-value]
    once.touch()
    _request(station, shard, gone(once))
    began = now()
    _request(station, shard, lambda: not set(due) & set(_due(station, shard)))
    progress(load, 1, WAIT_SECONDS)
    return since(began)


def _request(station: LogStation, shard: int, done: Callable[[], object]) -> None:
    """Request the job, as if the lease of a killed one had expired, until it has done its work."""
    end = time.monotonic() + WAIT_SECONDS
    while not done():
        assert time.monotonic() < end, f"shard {shard} is not retired"
        with station.connect_queue() as queue:
            queue.pexpire(keys.lease(f"retire/{shard}"), 1)
            time.sleep(0.002)
            retire_job(shard).request(queue)
        try:
            until(done, 5)
        except AssertionError:
            continue


def _due(station: LogStation, shard: int) -> list[int]:
    """Return the matches in Redis that can be retired now."""
    with station.connect() as client:
        limit = retirement_limits(client, station.shards, mail=False)[shard]
        boards = [int(board) for board in client.zrange(keys.ended(shard), 0, -1)]
        found = []
        for board in boards:
            places = locators.decode(client.get(keys.locator(shard, board)) or b"")
            if places and places[-1] < limit:
                found.append(board)
        return found
