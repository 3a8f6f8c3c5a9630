"""Robots and the scheduler: their moves are requested until they are made, and their flags are patient."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend

from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.match.clocks import late_seats
from domain.match.commands import PlayMove, StartMatch
from domain.match.events import Flagged
from domain.match.state import Reason, position_of
from domain.rules import rules_by_id
from infra.projections.robots import RobotTurnsProjection
from infra.redis.rq_jobs import ROBOT_MOVE, ROBOTS
from infra.store.failures import RobotFailures
from tests.helpers.given import ALICE, BOB
from tests.helpers.robots import EASY, HARD, RobotBench
from tests.helpers.side import catch_up
from tests.helpers.timed import BEGIN, FLAG, TimedBench
from workers import robot_jobs
from workers.robot_jobs import AGAIN_SECONDS, LOST_SECONDS, RobotWakeup
from workers.scheduler import ROBOT_GRACE_SECONDS


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


def test_a_move_is_requested_once(bench: RobotBench, wakeup: RobotWakeup, clock: Clock) -> None:
    begin(bench, 1, 2)
    bench.begin(ALICE, EASY, board=3)
    fold(bench)
    for _ in range(3):
        wakeup.tick()
        clock.seconds += AGAIN_SECONDS
    assert waiting(bench) == ["robot-1-1", "robot-2-1"]
    job = Job.fetch("robot-1-1", connection=bench.client, serializer=JSONSerializer)
    assert (job.func_name, job.args) == (ROBOT_MOVE, [1, 1])
    assert job.timeout == robot_jobs.JOB_SECONDS


def test_slow_moves_of_some_players_hold_up_no_other_player(
    bench: RobotBench, wakeup: RobotWakeup, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    monkeypatch.setattr(robot_jobs, "MOST_JOBS", 40)
    bench.client.delete(*bench.client.scan_iter("rq:*"))
    fresh = make_wakeup(bench, clock)
    for _ in range(3):
        fresh.tick()
        clock.seconds += 1
    assert "robot-101-1" in waiting(bench)


def test_two_schedulers_request_it_once(bench: RobotBench, clock: Clock) -> None:
    begin(bench, 1)
    for _ in range(2):
        make_wakeup(bench, clock).tick()
    assert waiting(bench) == ["robot-1-1"]


def test_a_robot_waits_as_long_as_the_setting_says(bench: RobotBench, clock: Clock) -> None:
    begin(bench, 1)
    make_wakeup(bench, clock, seconds=3_600).tick()
    assert waiting(bench) == []


def test_a_job_that_was_lost_with_the_server_of_the_queue_is_requested_again(
    bench: RobotBench, wakeup: RobotWakeup, clock: Clock
) -> None:
    begin(bench, 1)
    wakeup.tick()
    for key in bench.client.scan_iter("rq:*"):
        bench.client.delete(key)
    wakeup.tick()
    assert waiting(bench) == []
    clock.seconds += AGAIN_SECONDS
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]


def test_a_job_whose_process_was_killed_is_replaced(
    bench: RobotBench, wakeup: RobotWakeup, clock: Clock
) -> None:
    begin(bench, 1)
    wakeup.tick()
    bench.client.lpop(queue(bench.client).key)  # its record is still there
    clock.seconds += AGAIN_SECONDS
    wakeup.tick()
    assert waiting(bench) == []
    clock.seconds += LOST_SECONDS
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]


def test_what_another_scheduler_left_is_replaced_too(bench: RobotBench, clock: Clock) -> None:
    begin(bench, 1)
    make_wakeup(bench, clock).tick()
    bench.client.lpop(queue(bench.client).key)
    wakeup = make_wakeup(bench, clock)
    for _ in range(6):
        wakeup.tick()
        clock.seconds += AGAIN_SECONDS
    assert waiting(bench) == ["robot-1-1"]


def test_a_match_whose_robot_fails_is_tried_less_and_less_often(
    bench: RobotBench, wakeup: RobotWakeup, clock: Clock
) -> None:
    begin(bench, 1)
    at = []
    for second in range(600):
        wakeup.tick()
        if waiting(bench):
            at.append(second)
            queue(bench.client).empty()  # it ran, and failed
        clock.seconds += 1
    assert at == [0, 10, 30, 70, 150, 310]


def test_matches_whose_robots_fail_do_not_hide_others(
    bench: RobotBench, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robot_jobs, "MOST_JOBS", 3)
    begin(bench, *range(1, 8))
    wakeup = make_wakeup(bench, clock)
    seen: set[str] = set()
    for _ in range(3):
        wakeup.tick()
        assert len(waiting(bench)) <= 3
        seen.update(waiting(bench))
        queue(bench.client).empty()
        clock.seconds += 1
    assert len(seen) == 7


def test_nothing_is_requested_while_the_workers_are_suspended(
    bench: RobotBench, wakeup: RobotWakeup
) -> None:
    begin(bench, 1)
    suspend(bench.client)
    wakeup.tick()
    assert waiting(bench) == []
    resume(bench.client)
    wakeup.tick()
    assert waiting(bench) == ["robot-1-1"]


def test_a_note_goes_once_the_match_has_gone_on(
    bench: RobotBench, wakeup: RobotWakeup, clock: Clock
) -> None:
    begin(bench, 1, 2)
    failures = RobotFailures(bench.client)
    for board in (1, 2, 3):
        failures.note(board, 1, "why")
    assert bench.answer(2)
    fold(bench)
    wakeup.tick()
    assert list(failures.all()) == [1]
    assert bench.answer(1)
    bench.do(ALICE, PlayMove(text=next(iter(legal(bench)))), 1)
    fold(bench)
    clock.seconds += 60
    wakeup.tick()
    assert failures.all() == {}


def legal(bench: RobotBench) -> Iterator[str]:
    return rules_by_id("pow2/1").legal_moves(position_of(bench.state()))


# --- clocks


@pytest.fixture
def timed(redis_client: Redis, tmp_path: Path) -> TimedBench:
    bench = TimedBench(redis_client, tmp_path / "seeds")
    start = StartMatch(rules="pow2/1", options=(), seats=(EASY, ALICE), terms=FLAG)
    bench.submit(bench.order(ALICE, start, 1))
    bench.drain()
    return bench


def test_a_robot_that_is_late_when_its_server_comes_back_may_still_move(timed: TimedBench) -> None:
    week = 7 * DAY
    timed.now = BEGIN + week
    keeper = timed.keeper()
    timed.tick(keeper, week)
    timed.tick(keeper, week + int(ROBOT_GRACE_SECONDS * 1_000) - 1)
    assert timed.kept() == []
    assert late_seats(timed.state(), timed.now) == [0]
    sent = timed.send(EASY, PlayMove(text="m13-m9"))
    timed.drain()
    outcome = timed.outcome(sent)
    assert outcome is not None
    assert outcome.accepted
    assert timed.state().next == 1


def test_a_robot_that_never_moves_loses_by_time_in_the_end(timed: TimedBench) -> None:
    keeper = timed.keeper()
    timed.tick(keeper, 3 * DAY)
    assert timed.kept() == [(Flagged, 3 * DAY)]
    result = timed.state().result
    assert result is not None
    assert (result.reason, result.winners) == (Reason.TIME, (1,))


def test_the_time_of_its_opponent_is_over_when_it_is_over(timed: TimedBench) -> None:
    timed.send(EASY, PlayMove(text="m13-m9"))
    timed.drain()
    timed.now = BEGIN + 7 * DAY
    late = timed.send(ALICE, PlayMove(text="a13-c11"))
    timed.drain()
    outcome = timed.outcome(late)
    assert outcome is not None
    assert outcome.code == Code.TIME_OVER
    timed.tick(timed.keeper(), 7 * DAY)
    assert timed.kept() == [(Flagged, 7 * DAY)]
