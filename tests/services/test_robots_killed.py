"""Robots under `serve`: whatever is killed or lost, each move is made, and made once."""

import os
import signal
from pathlib import Path

import pytest

from domain.errors import Code
from domain.match.commands import ResignMatch, StartMatch
from domain.match.events import Moved
from domain.match.history import decode_event
from infra.durability.durability import Mode
from infra.health.heartbeats import Role, read_heartbeats
from infra.store.redis_store import RedisStore
from tests.helpers.given import ALICE, sent
from tests.helpers.robots import EASY, MEDIUM
from tests.helpers.served import Served, gateway, state_of, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

BOARD = 1_000
PLIES = 6


def begin(served: Served, *boards: int) -> None:
    """Start matches of two robots."""
    with served.client() as client, gateway(client) as door:
        for board in boards:
            start = StartMatch(rules="goliath/1", options=(), seats=(EASY, MEDIUM))
            outcome = door.send(sent(EASY, start, board, board), 0, seconds=60)
            assert outcome.accepted, outcome


def play(served: Served, *boards: int, plies: int = PLIES) -> None:
    """Wait until the robots have played so many plies."""
    with served.client() as client:
        until(lambda: all(state_of(client, one).ply >= plies for one in boards), 150)


def check(served: Served, *boards: int) -> None:
    """Each ply was played once, nothing was refused, and the matches verify."""
    with served.client() as client:
        store = RedisStore(client, Mode.FSYNC)
        for board in boards:
            events = [decode_event(data).body for data in store.events(board)]
            plies = [one.ply for one in events if isinstance(one, Moved)]
            assert plies == list(range(1, len(plies) + 1))
            assert Code.STALE_PLY not in str(store.outcomes(board))
            done = served.run("verify", str(board))
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("point", ["robot.chosen", "robot.sent"])
def test_a_robot_that_is_killed_in_the_middle_of_a_move_moves_once(
    tmp_path: Path, point: str
) -> None:
    fuse = tmp_path / "fuse"
    fuse.touch()
    env = {
        "MATCHPOST_ROBOTS": "1",
        "MATCHPOST_ROBOT_SECONDS": "0",
        "MATCHPOST_FAULT": f"{point}:2:{fuse}",
    }
    with Served(tmp_path / "data", env) as served:
        begin(served, BOARD)
        play(served, BOARD)
        assert not fuse.exists()
        check(served, BOARD)


@pytest.mark.long
def test_robots_go_on_after_the_queue_and_a_process_were_killed(tmp_path: Path) -> None:
    boards = range(BOARD, BOARD + 4)
    with Served(
        tmp_path / "data", {"MATCHPOST_ROBOTS": "1", "MATCHPOST_ROBOT_SECONDS": "0"}
    ) as served:
        begin(served, *boards)
        play(served, *boards, plies=2)
        for name in ("/queue/valkey.sock", "matchpost robots"):
            (victim, *_) = served.children(name)
            os.kill(victim, signal.SIGKILL)
        play(served, *boards, plies=5)
        check(served, *boards)


@pytest.mark.long
def test_robots_go_on_after_the_server_was_down(tmp_path: Path) -> None:
    with Served(
        tmp_path / "data", {"MATCHPOST_ROBOTS": "1", "MATCHPOST_ROBOT_SECONDS": "0"}
    ) as served:
        begin(served, BOARD)
        play(served, BOARD, plies=1)
        served.end()
        served.start()
        with served.client() as client:
            before = state_of(client, BOARD).ply
        play(served, BOARD, plies=before + 2)
        check(served, BOARD)


@pytest.mark.long
def test_without_robot_processes_no_robot_moves_and_the_doctor_says_so(tmp_path: Path) -> None:
    with Served(tmp_path / "data", {"MATCHPOST_ROBOTS": "0"}) as served:
        begin(served, BOARD)
        until(lambda: "1 match waits for a robot, and this server runs none" in doctor(served))
        assert served.children("matchpost robots") == []
        with served.client() as client:
            assert state_of(client, BOARD).ply == 0
            assert Role.ROBOTS not in {beat.role for beat in read_heartbeats(served.queue())}


def doctor(served: Served) -> str:
    return served.run("doctor").stdout


@pytest.mark.long
def test_a_robot_gives_way_to_everything_else(tmp_path: Path) -> None:
    with Served(tmp_path / "data", {"MATCHPOST_ROBOTS": "2"}) as served:
        until(lambda: len(served.children("matchpost robots")) == 2)
        robots = served.children("matchpost robots")
        until(lambda: {os.getpriority(os.PRIO_PROCESS, pid) for pid in robots} == {19})
        with served.client() as client, gateway(client) as door:
            start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, EASY))
            assert door.send(sent(ALICE, start, 1, BOARD), 0, seconds=60).accepted
            assert door.send(sent(ALICE, ResignMatch(), 2, BOARD), 0, seconds=60).accepted
        until(lambda: "no matches wait for a robot" in doctor(served))
