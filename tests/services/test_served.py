"""Roles of a real `serve`: what each does from the start, and after it was killed."""

import json
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from redis import Redis

from bench.workload import PlannedGame, starts
from domain.clocks.time_control import DAY, TimeControl
from domain.errors import Code
from domain.match.commands import StartMatch
from domain.match.events import Flagged, Moved, Nagged
from domain.match.history import decode_event
from infra.durability.durability import Mode
from infra.health.heartbeats import Role, read_heartbeats
from infra.log.key_files import read_public_keys
from infra.people.accounts import Accounts
from infra.people.challenges import ChallengeState, ChallengeStore, Proposal
from infra.redis import keys
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from tests.helpers.forked import SCRIPT
from tests.helpers.gateways import StoreGateway
from tests.helpers.given import sent
from tests.helpers.proposals import new_command
from tests.helpers.robots import EASY, MEDIUM
from tests.helpers.served import Served, gateway, queue_of, state_of, until

BOARD = 1_000
"""The first board here; the server itself allots lower ones."""

BOARDS = range(BOARD, BOARD + 8)

pytestmark = [pytest.mark.long, pytest.mark.slow]


def count(client: Redis, board: int, kind: type) -> int:
    """Count a match's events of a kind."""
    events = map(decode_event, RedisStore(client, Mode.FSYNC).events(board))
    return sum(isinstance(one.body, kind) for one in events)


PLIES = 6


@pytest.mark.timeout(300)
@pytest.mark.parametrize("point", ["robot.chosen", "robot.sent"])
def test_a_robot_that_is_killed_in_the_middle_of_a_move_moves_once(tmp_path, point):
    fuse = tmp_path / "fuse"
    fuse.touch()
    env = {
        "MATCHPOST_ROBOTS": "1",
        "MATCHPOST_ROBOT_SECONDS": "0",
        "MATCHPOST_FAULT": f"{point}:2:{fuse}",
    }
    with Served(tmp_path / "data", env) as served, served.client() as client:
        with gateway(client) as door:
            start = StartMatch(rules="goliath/1", options=(), seats=(EASY, MEDIUM))
            assert door.send(sent(EASY, start, BOARD, BOARD), 0, seconds=60).accepted
        until(lambda: state_of(client, BOARD).ply >= PLIES, 150)
        assert not fuse.exists()
        store = RedisStore(client, Mode.FSYNC)
        events = [decode_event(data).body for data in store.events(BOARD)]
        plies = [one.ply for one in events if isinstance(one, Moved)]
        assert plies == list(range(1, len(plies) + 1))
        assert Code.STALE_PLY not in str(store.outcomes(BOARD))
        done = served.run("verify", str(BOARD))
        assert done.returncode == 0, done.stdout + done.stderr


def export(server: Served, board: int) -> str:
    done = server.run("export", str(board))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def covered(document: str) -> bool:
    found = json.loads(document)
    return len(found["leaves"]) == len(found["log"]["proofs"])


def test_a_match_leaves_its_server_and_is_proved_without_it(tmp_path):
    data = tmp_path / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as server:
        server.do(
            "signup alice mad-hatter", "signup bob yes-we-can", "powerdrain challenge alice bob --days=3",
            "powerdrain move 1 bob yes-we-can accept", "pow2 challenge alice bob --days=3",
            "pow2 move 2 alice mad-hatter m13-j7",
        )  # fmt: skip
        assert server.run("do", "pow2 move 2 alice mad-hatter m1-i3").returncode == 1
        for board, moves in ((1, 0), (2, 1)):
            until(lambda: covered(export(server, board)))  # noqa: B023 - it is called at once
            line = export(server, board)
            assert line.count("\n") == 1
            assert json.loads(line)["board"] == board
            (tmp_path / f"{board}.json").write_text(line)
            judged = json.loads(server.run("referee", typed=line).stdout)
            assert (judged["ok"], judged["ply"]) == (True, moves)
            assert server.run("verify", "-", typed=line).returncode == 0
            assert server.run("verify", str(board)).returncode == 0
        assert server.run("export", "99").returncode == 1
    # the server is gone, and its data are nowhere to be seen
    names = ("log-key", "receipts-key")
    published = [str(read_public_keys(data / "keys", name)[0]) for name in names]
    keys = tmp_path / "keys.txt"
    keys.write_text("\n".join([*published, ""]))
    elsewhere = Served(tmp_path / "nothing")
    for board in (1, 2):
        done = elsewhere.run("verify", str(tmp_path / f"{board}.json"), "--key", str(keys))
        assert (done.returncode, done.stderr) == (0, "")
        assert "covers all its leaves" in done.stdout
        assert done.stdout.endswith(f"match {board} of localhost holds\n")
    for board, said in (
        (1, "what was dealt follows from seed 1 of chain 1"),
        (2, "1 refusal decided again with the same sentence"),
    ):
        assert said in elsewhere.run("verify", str(tmp_path / f"{board}.json")).stdout
    forged = (tmp_path / "2.json").read_text().replace('"m13-j7"', '"m13-m9"')
    done = elsewhere.run("verify", "-", typed=forged)
    assert done.returncode == 1
    assert "moves: move 1 is not the one that the events lead to" in done.stderr
    assert not (tmp_path / "nothing").exists()


SECONDS = 60
"""How long it is watched: a run of the publisher and of the projection worker, and six trial writes."""


class Cost(NamedTuple):
    """What a server has cost until now."""

    at: float
    commands: float
    log_bytes: float
    wakeups: float
    """How often a thread went on that had waited: unlike its seconds it does not depend on the machine."""

    def an_hour(self, before: "Cost") -> "Cost":
        """What it costs in an hour, by what it has cost since `before`."""
        hours = (self.at - before.at) / 3600
        return Cost(*((new - old) / hours for new, old in zip(self, before, strict=True)))


def cost(data: Redis, processes: Sequence[int]) -> Cost:
    """What a server has cost: its data server, and all of its processes."""
    found = data.info()
    threads = [one for process in processes for one in Path(f"/proc/{process}/task").iterdir()]
    waits = [
        re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", (one / "status").read_text())
        for one in threads
    ]
    return Cost(
        time.monotonic(),
        found["total_commands_processed"],
        found["aof_current_size"],
        sum(int(found[1]) for found in waits if found),
    )


def test_an_idle_server_writes_little_asks_little_and_wakes_seldom(tmp_path):
    everything = {
        "MATCHPOST_HTTP": "127.0.0.1:0",
        "MATCHPOST_ROBOTS": "1",
        # so that its first round soon ends
        "MATCHPOST_SCRUB_PERCENT": "100",
    }
    with Served(tmp_path / "data", everything) as served, served.client() as data:
        assert served.process is not None
        until(lambda: data.hget(keys.SCRUB, "last_ended"), 240)
        # what the round has begun is done then
        time.sleep(5)
        processes = [served.process.pid, *served.children("")]
        before = cost(data, processes)
        time.sleep(SECONDS)
        found = cost(data, processes).an_hour(before)
    assert found.log_bytes < 10_000
    assert found.commands < 4 * 3600
    assert found.wakeups < 16 * 3600


@contextmanager
def another(served: Served) -> Iterator[None]:
    """One more scheduler, beside that of `serve`."""
    with subprocess.Popen([SCRIPT, "scheduler"], env=served.env) as process:
        try:
            yield
        finally:
            process.terminate()
    assert process.returncode == 0


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


def test_two_schedulers_send_each_reminder_and_flag_once_and_start_each_challenge_once(tmp_path):
    with Served(tmp_path / "data") as served, served.client() as client, another(served):
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
