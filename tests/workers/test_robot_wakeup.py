"""Which moves of robots the scheduler asks for: when, in which turn, and again where a job was lost or failed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend

from infra.projections.robots import RobotTurnsProjection
from infra.redis.rq_jobs import ROBOT_MOVE, ROBOTS
from infra.store.failures import RobotFailures
from tests.helpers.given import ALICE, BOB
from tests.helpers.robots import EASY, HARD, RobotBench, some_move
from tests.helpers.side import catch_up
from workers import robot_wakeup
from workers.robot_wakeup import AGAIN_SECONDS, LOST_SECONDS, RobotWakeup


class Clock:
    """Seconds that the test lets pass."""

    seconds = 1_000.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> Iterator[RobotBench]:
    bench = RobotBench(redis_client, tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def wakeup(bench: RobotBench, clock: Clock) -> RobotWakeup:
    return make_wakeup(bench, clock)


def make_wakeup(bench: RobotBench, clock: Clock, seconds: int = 0) -> RobotWakeup:
    return RobotWakeup(bench.client, bench.client, bench.store.now, seconds, lambda: clock.seconds)


def fold(bench: RobotBench) -> None:
    catch_up(bench.store, bench.client, [RobotTurnsProjection()])


def queue(client: Redis) -> Queue:
    return Queue(ROBOTS, connection=client, serializer=JSONSerializer)


def waiting(bench: RobotBench) -> list[str]:
    return list(queue(bench.client).job_ids)


def begin(bench: RobotBench, *boards: int) -> None:
    for board in boards:
        bench.begin(EASY, ALICE, board=board)
    fold(bench)


def test_a_move_is_requested_once(bench, wakeup, clock):
    begin(bench, 1, 2)
    bench.begin(ALICE, EASY, board=3)
    fold(bench)
    for _ in range(3):
        wakeup.tick()
        clock.seconds += AGAIN_SECONDS
    assert waiting(bench) == ["robot-1-1", "robot-2-1"]
    job = Job.fetch("robot-1-1", connection=bench.client, serializer=JSONSerializer)
    assert (job.func_name, job.args) == (ROBOT_MOVE, [1, 1])
    assert job.timeout == robot_wakeup.JOB_SECONDS


def test_slow_moves_of_some_players_hold_up_no_other_player(bench, wakeup, clock, monkeypatch):
    greedy = [bytes([number]) * 8 for number in range(1, 5)]
    for number in range(80):
        bench.begin(HARD, greedy[number // 20], board=1 + number)
    fold(bench)
    wakeup.tick()
    rounds = [f"robot-{1 + 20 * account + n}-1" for n in range(8) for account in range(4)]
    assert waiting(bench) == rounds  # a turn at a time of each account
    clock.seconds += 1
    bench.begin(EASY, BOB, board=101)
    bench.begin(EASY, BOB, board=102)
    bench.begin(HARD, BOB, board=103)
    fold(bench)
    wakeup.tick()
    assert waiting(bench)[:3] == ["robot-101-1", "robot-102-1", rounds[0]]
    assert "robot-103-1" not in waiting(bench)
    bench.client.ltrim(queue(bench.client).key, 3, -1)  # both, and one slow one, are made
    clock.seconds += 1
    wakeup.tick()
    assert waiting(bench)[-1] == "robot-103-1"  # which comes before the others' further ones
    # nor do they hide others where more are due than are looked at
    monkeypatch.setattr(robot_wakeup, "MOST_JOBS", 40)
    bench.client.delete(*bench.client.scan_iter("rq:*"))
    fresh = make_wakeup(bench, clock)
    for _ in range(3):
        fresh.tick()
        clock.seconds += 1
    assert "robot-101-1" in waiting(bench)


def test_a_job_that_was_lost_or_whose_process_was_killed_is_requested_again(bench, wakeup, clock):
    begin(bench, 1)
    wakeup.tick()
    bench.client.delete(*bench.client.scan_iter("rq:*"))  # the server of the queue has lost it
    wakeup.tick()
    assert waiting(bench) == []
    clock.seconds += AGAIN_SECONDS
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]
    bench.client.lpop(queue(bench.client).key)  # its process has it, and its record is still there
    clock.seconds += 2 * AGAIN_SECONDS
    wakeup.tick()
    assert waiting(bench) == []
    clock.seconds += LOST_SECONDS
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]


def test_a_match_whose_robot_fails_is_tried_less_and_less_often(bench, wakeup, clock):
    begin(bench, 1)
    at = []
    for second in range(600):
        wakeup.tick()
        if waiting(bench):
            at.append(second)
            queue(bench.client).empty()  # it ran, and failed
        clock.seconds += 1
    assert at == [0, 10, 30, 70, 150, 310]


def test_nothing_is_requested_while_the_workers_are_suspended(bench, wakeup):
    begin(bench, 1)
    suspend(bench.client)
    wakeup.tick()
    assert waiting(bench) == []
    resume(bench.client)
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]


def test_a_note_goes_once_the_match_has_gone_on(bench, wakeup, clock):
    begin(bench, 1, 2)
    failures = RobotFailures(bench.client)
    for board in (1, 2, 3):
        failures.note(board, 1, "why")
    assert bench.answer(2)
    fold(bench)
    wakeup.tick()
    assert list(failures.all()) == [1]
    assert bench.answer(1)
    bench.do(ALICE, some_move(bench), 1)
    fold(bench)
    clock.seconds += 60
    wakeup.tick()
    assert failures.all() == {}
