"""A newcomer on a new server has somebody to play with, without anything being set up."""

from pathlib import Path

import pytest

from tests.helpers.served import Served, state_of, until

pytestmark = pytest.mark.slow


@pytest.mark.long
def test_robots_play_from_the_first_minute(tmp_path: Path) -> None:
    with Served(
        tmp_path / "data", {"MATCHPOST_ROBOTS": "1", "MATCHPOST_ROBOT_SECONDS": "0"}
    ) as served:

        def do(line: str) -> str:
            done = served.run("do", line)
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        assert "robot-easy" in do("robots")
        do("signup ann mad-hatter")
        assert "ann, robot-easy (robot), robot-hard (robot) and robot-medium (robot)" in do("list")
        first = _board(do("torere challenge robot-easy ann"))
        gathered = _board(do("powerdrain challenge robot-medium ann --gather"))
        do(f"powerdrain move {gathered} ann mad-hatter accept")
        with served.client() as client:
            until(lambda: state_of(client, first).ply == 1)
            until(lambda: state_of(client, gathered).ply == 1)
        do(f"torere resign {first} ann mad-hatter")
        again = _board(do(f"torere rematch {first} ann mad-hatter"))
        with served.client() as client:
            assert state_of(client, again).seats == state_of(client, first).seats[::-1]
            assert not state_of(client, again).clock.terms.rated


@pytest.mark.long
def test_without_robot_processes_none_are_offered(tmp_path: Path) -> None:
    with Served(tmp_path / "data", {"MATCHPOST_ROBOTS": "0"}) as served:
        assert served.run("do", "robots").stdout == "this server has no robots\n"
        served.run("do", "signup ann mad-hatter")
        done = served.run("do", "torere challenge ann robot-easy")
        assert done.returncode == 1
        assert "this server runs no robots now" in done.stdout + done.stderr


def _board(said: str) -> int:
    return int(said.split()[1].rstrip(",#"))
