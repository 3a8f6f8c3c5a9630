"""Processes killed at the points of the path; the server killed; workers stopped and continued.

Random kills: whichever process chance names, when chance has it, under load.

The scheduler (`keeper` in fault points) killed: what it finds, and what it sends itself.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from bench.workload import PlannedGame, starts
from domain.clocks.time_control import DAY, TimeControl
from domain.match import commands
from domain.match.commands import CommandEnvelope, FlagPlayer
from domain.records import SERVER_ACCOUNT, command_id
from infra.durability.durability import Mode
from infra.process.failpoints import FAILPOINTS, VARIABLE
from infra.store.gateway import submission_of
from infra.store.leases import LaneLeases
from infra.store.outcomes import parse
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.valkey.server import EmbeddedError
from tests.helpers.gateways import StoreGateway
from tests.helpers.served import queue_of, until
from trials.faults.checker import now
from trials.faults.load import Client, Load, orders
from trials.faults.results import Outcome
from trials.faults.station import (
    FOREIGN_BOARDS,
    Station,
    gone,
    kill,
    outcomes_of,
    progress,
    since,
    slowest_outcome,
)
from trials.faults.web import kill_at
from workers.leased_run import LINGER_SECONDS
from workers.scheduler import SENDER

SCHEDULER = "matchpost scheduler"
"""A part of its command line."""

_LEFT_AT_MOST = 100  # commands that a door leaves waiting until the keeper has found one

OVERDUE_BOARDS = 3 * FOREIGN_BOARDS
"""From here on are the boards of matches whose time is over."""

_AGO_MS = 30 * DAY  # when they began
_TERMS = TimeControl(nag=0, forfeit=3)


def kill_the_keeper(point: str, number: int, station: Station, once: Path) -> float:
    """Have it killed there once, under load; give the seconds until all in flight had outcomes."""
    until(lambda: station.children(SCHEDULER), 30)
    (old,) = station.children(SCHEDULER)
    # a drain that is at work anyway leaves the keeper nothing to find
    pace = 1.0 if point == "keeper.found" else 0.05
    with station.load(plies=12, pace=pace) as load:
        progress(load, 3)
        once.touch()
        settle = _STEPS[point](station, number, once)
        in_flight = load.in_flight()
        until(lambda: station.children(SCHEDULER) not in ([], [old]), 30)
        began = now()
        outcomes_of(load, in_flight)
        settle()
        return since(began)


Settle = Callable[[], object]
"""Waits for the outcomes of what the step began, after the restart."""


def _at_a_tick(station: Station, number: int, once: Path) -> Settle:
    del station, number
    until(gone(once), 30)
    return lambda: None


def _at_a_find(station: Station, number: int, once: Path) -> Settle:
    """Leave commands waiting until it has found one."""
    for extra in range(_LEFT_AT_MOST):
        if not once.exists():
            break
        _leave_waiting(station, number * _LEFT_AT_MOST + extra)
        time.sleep(0.3)
    until(gone(once), 30)
    return lambda: None


def _leave_waiting(station: Station, number: int) -> None:
    """Hand a command in as a door that dies before it wakes a drain."""
    sent = next(orders(FOREIGN_BOARDS + number, 1))
    began = now()
    # the keeper may have been killed just now, and the server with it
    with contextlib.suppress(RedisError, EmbeddedError), station.connect() as client:
        RedisStore(client, Mode.FSYNC).submit([submission_of(sent, 0, "-")])
    station.note(sent, began)


def _at_a_sending(station: Station, number: int, once: Path) -> Settle:
    """Begin a match whose time is over already: the keeper has to send its flag."""
    board = OVERDUE_BOARDS + number
    (start,) = starts([PlannedGame(board, (b"L%07d" % board, b"D%07d" % board), ())], _TERMS)
    player = Client("overdue", station.connect, station.record, open_door=_door_of_long_ago)
    began = now()
    # the keeper may die before the player has heard
    player.attempt(start)
    until(gone(once), 30)

    def settle() -> None:
        player.send(start)
        player.hang_up()
        _flagged(station, board, began)

    return settle


def _door_of_long_ago(client: Redis) -> StoreGateway:
    """A door whose commands are received long ago."""
    queue = queue_of(client)
    store = RedisStore(client, Mode.FSYNC)
    ago = int(store.now()) - _AGO_MS
    store = RedisStore(client, Mode.FSYNC, clock=lambda: ago)
    return StoreGateway(store, LaneLeases(queue, lambda lane: enqueue_drain(queue, lane)), queue)


def _flagged(station: Station, board: int, began: int) -> None:
    """Wait for the outcome of the match's flag, and note it as if its sender had heard it."""
    # the match has one event when its time is over, and no ply
    flag = CommandEnvelope(
        board,
        command_id(SENDER, SERVER_ACCOUNT, f"{board} 1 Flag"),
        SERVER_ACCOUNT,
        FlagPlayer(ply=0),
    )
    with station.connect() as client:
        store = RedisStore(client, Mode.FSYNC)
        until(lambda: store.outcome(board, flag.id), 30)
        stored = store.outcome(board, flag.id)
    assert stored is not None
    outcome = parse(stored)
    assert outcome.accepted, outcome
    station.note(flag, began, (outcome.code, outcome.seq, outcome.index))


_STEPS = {"keeper.ticked": _at_a_tick, "keeper.found": _at_a_find, "keeper.sent": _at_a_sending}
"""What has it pass the point, and die."""

OUTCOME_SECONDS = 15.0
"""From the start of a replacement until every command that was in flight has its outcome."""

WALK_SECONDS = 40.0
"""The same where kills follow upon each other: one command may meet several."""

RESTART_EVERY = 8
"""Kills after which the server is started anew, since a child that dies often is restarted late."""

DOOR_POINTS = tuple(p for p in FAILPOINTS if p.startswith(("submit.", "wake.")))
SERVE_POINTS = tuple(p for p in FAILPOINTS if p.startswith("serve."))
KEEPER_POINTS = tuple(p for p in FAILPOINTS if p.startswith("keeper."))
WORKER_POINTS = tuple(p for p in FAILPOINTS if p.startswith(("drain.", "commit.")))


def at_point(point: str, kills: int, folder: Path) -> Outcome:
    """Kill whatever process passes the point, so many times, under load."""
    if point in WORKER_POINTS:
        return _workers(point, kills, folder)
    return at_points([point], kills, folder)


def at_points(points: Sequence[str], kills: int, folder: Path) -> Outcome:
    """Do the same at several points of the doors, the keeper or the start, on one server."""
    return (_doors if points[0] in DOOR_POINTS else _supervisors)(points, kills, folder)


def _outcome(points: Sequence[str], kills: int, times: list[float], station: Station) -> Outcome:
    late = [f"an outcome came {t:.1f} s after the restart" for t in times if t > OUTCOME_SECONDS]
    what = "SIGKILL at " + ", ".join(f"`{point}`" for point in points)
    name = "kill-" + "-".join(points)
    return station.outcome(name, what, kills * len(points), times, late=late)


def _workers(point: str, kills: int, folder: Path) -> Outcome:
    once = folder / "once"
    setting = f"{point}:1:{once}"
    first = folder / "first"
    if point == "drain.counted":
        # only what was waiting while a drain died is counted, so one is killed before
        setting = f"drain.read:1:{first},{setting}"
    times = []
    with Station(folder, {VARIABLE: setting, "MATCHPOST_WORKERS": "2"}) as station:
        with station.load() as load:
            for number in range(kills):
                if number and number % RESTART_EVERY == 0:
                    station.restart()
                progress(load, 3)
                arm = [once, first] if point == "drain.counted" else [once]
                times.append(_kill_a_worker(station, load, arm))
        return _outcome([point], kills, times, station)


def walk(points: Sequence[str], folder: Path) -> Outcome:
    """Kill a worker once at each of the points, one kill following the other at once.

    Quicker than a run for each point, since the waits for the leases overlap.
    """
    files = {point: folder / f"once-{point}" for point in points}
    setting = ",".join(f"{point}:1:{file}" for point, file in files.items())
    done = 0
    with Station(folder, {VARIABLE: setting, "MATCHPOST_WORKERS": "3"}) as station:
        with station.load(players=4) as load:
            progress(load, 3)
            for file in files.values():
                until(lambda: len(station.workers()) > 1, 30)
                file.touch()
                until(gone(file), 60)
                done += 1
            outcomes_of(load, load.in_flight())
            progress(load, 3)
        slowest = slowest_outcome(station.record)
        late = [f"an outcome took {slowest:.1f} s"] if slowest > WALK_SECONDS else []
        what = "SIGKILL at every point of a worker in turn"
        return station.outcome("walk", what, len(points), [slowest], faults=done, late=late)


def _kill_a_worker(station: Station, load: Load, arm: list[Path]) -> float:
    """Arm the point, wait for the kill, and time the outcomes from the replacement's start."""
    until(lambda: len(station.workers()) == 2, 30)
    before = set(station.workers())
    for file in arm:
        file.touch()
    for file in arm:
        until(gone(file), 30)
    until(lambda: len(before & set(station.workers())) < len(before), 30)
    in_flight = load.in_flight()
    until(lambda: set(station.workers()) - before, 30)
    restarted = now()
    outcomes_of(load, in_flight)
    return since(restarted)


def _supervisors(points: Sequence[str], kills: int, folder: Path) -> Outcome:
    files = {point: folder / f"once-{point}" for point in points}
    setting = ",".join(f"{point}:1:{file}" for point, file in files.items())
    times = []
    with Station(folder, {VARIABLE: setting}) as station:
        for point, file in files.items():
            for number in range(kills):
                if point in KEEPER_POINTS:
                    if number and number % RESTART_EVERY == 0:
                        station.restart()
                    times.append(kill_the_keeper(point, number, station, file))
                else:
                    times.append(_kill_at_start(station, file))
        return _outcome(points, kills, times, station)


def _kill_at_start(station: Station, once: Path) -> float:
    """Play, end the server, and have its next start killed."""
    with station.load(plies=12) as load:
        progress(load, 3)
        station.served.end(signal.SIGKILL)
        once.touch()
        try:
            station.start()
        except AssertionError:  # it ended without `ready`
            pass
        else:
            raise AssertionError("the start was not killed")
        in_flight = load.in_flight()
        began = now()
        station.start()
        outcomes_of(load, in_flight)
        return since(began)


def through_http(points: Sequence[str], kills: int, folder: Path) -> Outcome:
    """Kill the process that answers HTTP at these points, while a command goes through it."""
    files = {point: folder / f"once-{point}" for point in points}
    setting = ",".join(f"{point}:1:{file}" for point, file in files.items())
    with Station(folder, {VARIABLE: setting, "MATCHPOST_HTTP": "127.0.0.1:0"}) as station:
        times = kill_at(points, kills, station, RESTART_EVERY)
        found = _outcome(points, kills, times, station)
        found.name = "http-" + "-".join(points)
        found.what += " in the process that answers HTTP"
        return found


def _doors(points: Sequence[str], kills: int, folder: Path) -> Outcome:
    times = []
    with Station(folder) as station:
        # a door requests a drain only where none works or lingers
        pace = 4 * LINGER_SECONDS if "wake.wanted" in points else 0.05
        boards = range(FOREIGN_BOARDS, FOREIGN_BOARDS + kills * len(points))
        todo = (sent for board in boards for sent in orders(board, 30))
        with station.load(players=2, pace=pace) as load:
            progress(load, 1)
            for point in points:
                times += [_kill_a_door(station, point, todo) for _ in range(kills)]
        return _outcome(points, kills, times, station)


def _kill_a_door(station: Station, point: str, todo: Iterator[CommandEnvelope]) -> float:
    """Send commands until a door is killed; give the seconds in which another gets the outcome."""
    for sent in todo:
        if point == "wake.wanted":
            time.sleep(1.5 * LINGER_SECONDS)
        began = now()
        answer = _door(station, sent, f"{point}:1")
        station.note(sent, began, answer)
        if answer is None:
            break
    again = now()
    station.note(sent, again, _door(station, sent, ""))
    return since(again)


def _door(station: Station, sent: CommandEnvelope, fault: str) -> tuple[str, int, int] | None:
    """Send a command from a process of its own; None when it was killed on the way."""
    root = Path(__file__).parents[2]
    env = {**station.served.env, VARIABLE: fault, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("door.py"), commands.encode_command(sent).hex()],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == -signal.SIGKILL and fault:
        return None
    if done.returncode:
        raise AssertionError(f"the door ended with {done.returncode}: {done.stderr}")
    code, seq, index = done.stdout.split(",")
    return code, int(seq), int(index)


def servers(kills: int, folder: Path) -> Outcome:
    """Kill the Valkey of the data under load; the supervisor starts it again."""
    station = Station(folder)
    what = "SIGKILL of the Valkey under load"
    return _servers("server", what, station, station.servers, kills)


def queues(kills: int, folder: Path) -> Outcome:
    """Kill the Valkey of the queue under load: every job, lease and worker's registration is lost."""
    station = Station(folder, {"MATCHPOST_WORKERS": "2"})
    what = "SIGKILL of the queue's Valkey under load"
    return _servers("queue", what, station, station.queues, kills)


def _servers(
    name: str, what: str, station: Station, running: Callable[[], list[int]], kills: int
) -> Outcome:
    times = []
    with station:
        with station.load(players=4, pace=0.01) as load:
            for number in range(kills):
                if number and number % RESTART_EVERY == 0:
                    station.restart()
                progress(load, 20)
                until(running)
                old = running()
                kill(old[0])
                in_flight = load.in_flight()
                until(lambda old=old: running() not in ([], old), 30)  # type: ignore[misc]
                restarted = now()
                outcomes_of(load, in_flight)
                # play goes on by itself, not only what was in flight
                progress(load, 5)
                times.append(since(restarted))
        found = _outcome([], kills, times, station)
        found.name, found.what, found.wanted = name, what, kills
        return found


def zombies(point: str, stops: int, folder: Path) -> Outcome:
    """Stop a worker at a point, let another overtake it, and let it go on."""
    once = folder / "once"
    env = {VARIABLE: f"{point}:1:{once}:STOP", "MATCHPOST_WORKERS": "2"}
    times = []
    with Station(folder, env) as station:
        with station.load() as load:
            for _ in range(stops):
                progress(load, 3)
                times.append(_overtake(station, load, once))
        found = _outcome([point], stops, times, station)
        found.name = f"stop-{point}"
        found.what = f"SIGSTOP at `{point}`, overtaken, SIGCONT"
        return found


def _overtake(station: Station, load: Load, once: Path) -> float:
    once.touch()
    until(gone(once), 30)
    until(lambda: _stopped(station), 10)
    began = now()
    (stopped,) = _stopped(station)
    try:
        outcomes_of(load, load.in_flight())
        took = since(began)
    finally:
        os.kill(stopped, signal.SIGCONT)
    progress(load, 3)
    return took


def _stopped(station: Station) -> list[int]:
    return [pid for pid in station.workers() if _state(pid) == "T"]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


CHILDREN = {
    "worker": "matchpost worker",
    "side": "matchpost side",
    "scheduler": "matchpost scheduler",
    "Valkey": "/data/valkey.sock",
    "queue": "/queue/valkey.sock",
}
"""What is killed, but for `serve` itself, by a part of its command line."""

WEIGHTS = {"worker": 5, "side": 3, "scheduler": 2, "Valkey": 3, "queue": 3, "serve": 1}
"""How often each is killed, by chance."""

MOST_BETWEEN = 60
"""Commands with outcomes between two kills."""


def random_kills(kills: int, folder: Path) -> Outcome:
    """Kill so many times; all that was in flight must have outcomes soon after each restart."""
    chance = random.Random(kills)
    times: list[float] = []
    killed: Counter[str] = Counter()
    with Station(folder, {"MATCHPOST_WORKERS": "2"}) as station:
        with station.load(players=6, pace=0.01) as load:
            for number in range(kills):
                if number and number % RESTART_EVERY == 0:
                    station.restart()
                progress(load, chance.randint(1, MOST_BETWEEN))
                (name,) = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
                replaced = _kill(station, name, chance)
                in_flight = load.in_flight()
                replaced()
                began = now()
                outcomes_of(load, in_flight)
                times.append(since(began))
                killed[name] += 1
        late = [
            f"an outcome came {t:.1f} s after the restart" for t in times if t > OUTCOME_SECONDS
        ]
        what = "SIGKILL of a worker, the side worker, the Valkey or `serve`, by chance"
        details = {"killed": dict(killed)}
        return station.outcome("random", what, kills, times, late=late, details=details)


def _kill(station: Station, name: str, chance: random.Random) -> Callable[[], object]:
    """Kill one; give what waits for its replacement."""
    if name == "serve":
        station.served.end(signal.SIGKILL)
        return station.start
    line = CHILDREN[name]
    until(lambda: station.children(line), 30)
    before = station.children(line)
    kill(chance.choice(before))
    return lambda: until(lambda: set(station.children(line)) - {*before}, 30)
