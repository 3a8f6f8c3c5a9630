"""A clock that ran ahead and was put right: no flag falls by it, and a turn loses minutes at most."""

from pathlib import Path

import pytest
from redis import Redis

from domain.clocks.time_control import DAY
from domain.match.commands import PlayMove
from domain.match.events import Flagged, Moved
from infra.store.port import MOST_AHEAD_MS
from tests.helpers.given import ALICE, BOB
from tests.helpers.timed import BEGIN, FLAG, TimedBench

MINUTE = 60_000


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> TimedBench:
    made = TimedBench(redis_client, tmp_path / "seeds")
    made.challenge(FLAG, 1)
    return made


def ran_ahead(bench: TimedBench, before_deadline: int, ahead: int) -> None:
    """Let the clock run ahead, so long before the mover's deadline, and put it right."""
    bench.now = BEGIN + 3 * DAY - before_deadline + ahead
    bench.store.watermark()
    bench.now -= ahead


def test_no_flag_falls_before_the_clock_itself_shows_the_deadline(bench: TimedBench) -> None:
    keeper = bench.keeper()
    ran_ahead(bench, 5 * MINUTE, 9 * MINUTE)
    bench.tick(keeper, 3 * DAY - 5 * MINUTE)
    bench.tick(keeper, 3 * DAY - 1)
    assert bench.kept() == []
    bench.tick(keeper, 3 * DAY)
    assert [kind for kind, _ in bench.kept()] == [Flagged]


@pytest.mark.parametrize(
    ("before_deadline", "ahead", "code"),
    [
        (10 * MINUTE, 9 * MINUTE, ""),
        (9 * MINUTE, 9 * MINUTE, "time-over"),
        (MOST_AHEAD_MS, MOST_AHEAD_MS, "time-over"),
        (MINUTE, MOST_AHEAD_MS + 1, ""),
        (MINUTE, 365 * DAY, ""),
    ],
)
def test_a_move_is_too_late_only_if_its_deadline_is_nearer_than_the_clock_ran_ahead(
    bench: TimedBench, before_deadline: int, ahead: int, code: str
) -> None:
    ran_ahead(bench, before_deadline, ahead)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.drain()
    outcome = bench.outcome(order)
    assert outcome is not None
    assert outcome.code == code


def test_a_turn_within_the_time_that_stands_still_costs_nothing(bench: TimedBench) -> None:
    bench.now += DAY
    ran_ahead(bench, 2 * DAY, 9 * MINUTE)
    bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.drain()
    bench.now += 4 * MINUTE
    bench.send(BOB, PlayMove(text="a13-c11"))
    bench.drain()
    first, second = (one.at for one in bench.envelopes(1, Moved))
    assert first == second == BEGIN + DAY + 9 * MINUTE
