"""Schedulers as processes: several do no harm, and one that is killed is replaced."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from bench.workload import PlannedGame, starts
from domain.clocks.time_control import DAY, TimeControl
from domain.match.events import Flagged, Nagged
from domain.match.history import decode_event
from infra.durability.durability import Mode
from infra.health.heartbeats import Role, read_heartbeats
from infra.people.accounts import Accounts
from infra.people.challenges import ChallengeState, ChallengeStore, Proposal
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from tests.helpers.forked import SCRIPT
from tests.helpers.gateways import StoreGateway
from tests.helpers.proposals import new_command
from tests.helpers.served import Served, queue_of, until

pytestmark = pytest.mark.slow

SCHEDULER = "matchpost scheduler"

FIRST = 1_000
"""The first board here; the server itself allots lower ones."""

BOARDS = range(FIRST, FIRST + 8)


@contextmanager
def another(served: Served) -> Iterator[subprocess.Popen[bytes]]:
    """One more scheduler, beside that of `serve`."""
    process = subprocess.Popen([SCRIPT, "scheduler"], env=served.env)
    try:
        with served.client() as client:
            until(lambda: process.pid in schedulers(client))
        yield process
    finally:
        process.terminate()
        assert process.wait(20) == 0


def schedulers(client: Redis) -> set[int]:
    """The schedulers that send heartbeats."""
    return {beat.pid for beat in read_heartbeats(queue_of(client)) if beat.role is Role.SCHEDULER}


def begin(client: Redis, board: int, days: float, nag: float, forfeit: int) -> None:
    """Begin a match so many days ago."""
    store = RedisStore(client, Mode.FSYNC)
    ago = store.now() - round(days * DAY)
    store = RedisStore(client, Mode.FSYNC, clock=lambda: ago)
    queue = queue_of(client)
    lanes = LaneLeases(queue, lambda lane: enqueue_drain(queue, lane))
    terms = TimeControl(nag=int(nag), forfeit=forfeit)
    (start,) = starts([PlannedGame(board, (b"L%07d" % board, b"D%07d" % board), ())], terms)
    with StoreGateway(store, lanes, queue) as gateway:
        assert gateway.send(start, 0).accepted


def count(client: Redis, board: int, kind: type) -> int:
    """Count a match's events of a kind."""
    events = map(decode_event, RedisStore(client, Mode.FSYNC).events(board))
    return sum(isinstance(one.body, kind) for one in events)


@pytest.mark.long
def test_two_schedulers_send_each_reminder_and_flag_once_and_start_each_challenge_once(
    tmp_path: Path,
) -> None:
    with (
        Served(tmp_path / "data") as served,
        served.client() as client,
        another(served),
    ):
        until(lambda: len(schedulers(client)) == 2)
        for board in BOARDS:
            begin(client, board, 4, 1, 30)
            begin(client, board + 100, 4, 0, 3)
        accounts = Accounts(client)
        pair = [accounts.signup(name, "mad-hatter") for name in ("ann", "ben")]
        challenges = ChallengeStore(client)
        made = challenges.open(pair[0], Proposal(rules="pow2/1"), new_command())
        challenges.take(made.id, pair[1])
        until(lambda: challenges.get(made.id).state is ChallengeState.STARTED)
        until(lambda: all(count(client, board, Nagged) for board in BOARDS))
        until(lambda: all(count(client, board + 100, Flagged) for board in BOARDS))
        # what lies days back in the log counts as days behind until the projections note where they are
        until(lambda: served.run("doctor").returncode == 0)
        store = RedisStore(client, Mode.FSYNC)
        until(lambda: not store.inbox_size(range(store.layout().shards)))
        assert [count(client, board, Nagged) for board in BOARDS] == [1] * 8
        assert [count(client, board + 100, Flagged) for board in BOARDS] == [1] * 8
        board = challenges.get(made.id).board
        assert board is not None


@pytest.mark.long
def test_while_one_scheduler_is_stopped_the_other_goes_on(tmp_path: Path) -> None:
    with (
        Served(tmp_path / "data") as served,
        served.client() as client,
        another(served),
    ):
        (own,) = served.children(SCHEDULER)
        os.kill(own, signal.SIGSTOP)
        begin(client, FIRST, 4, 0, 3)
        until(lambda: count(client, FIRST, Flagged))
        os.kill(own, signal.SIGKILL)
        until(lambda: set(served.children(SCHEDULER)) - {own})


@pytest.mark.long
def test_a_scheduler_without_a_server_says_so_and_ends_with_2(tmp_path: Path) -> None:
    done = Served(tmp_path / "data").run("scheduler")
    assert done.returncode == 2
    assert "no server is running" in done.stderr
