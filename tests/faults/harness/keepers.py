"""The scheduler (`keeper` in fault points) killed: what it finds, and what it sends itself."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from bench.workload import PlannedGame, starts
from domain.clocks.time_control import DAY, TimeControl
from domain.match.commands import CommandEnvelope, FlagPlayer
from domain.match.events import SERVER_ACCOUNT, command_id
from infra.durability.durability import Mode
from infra.store.gateway import submission_of
from infra.store.leases import LaneLeases
from infra.store.outcomes import parse
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.valkey.server import EmbeddedError
from tests.faults.harness.load import Client, orders
from tests.faults.harness.record import now
from tests.faults.harness.station import (
    FOREIGN_BOARDS,
    Station,
    gone,
    outcomes_of,
    progress,
    since,
)
from tests.helpers.gateways import StoreGateway
from tests.helpers.served import queue_of, until
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
    """Wait for its next tick."""
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


_STEPS = {
    "keeper.ticked": _at_a_tick,
    "keeper.found": _at_a_find,
    "keeper.sent": _at_a_sending,
}
"""What has it pass the point, and die."""
