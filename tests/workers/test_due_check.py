"""Due times that are wrong are found by their matches' snapshots, and mended."""

from pathlib import Path

import pytest
from redis import Redis

from domain.clocks.calendar import DAY
from domain.match.commands import PlayMove, ResignMatch
from domain.match.events import Flagged
from domain.match.history import unpack_snapshot
from infra.redis import keys
from infra.store.damaged_matches import DamagedMatches
from infra.store.due_times import DueTimes
from tests.helpers.given import ALICE
from tests.helpers.timed import FLAG, SHORT, TimedBench, alarms
from workers.due_check import BOARDS_PER_TICK, ROUND_SECONDS, DueCheck

SHARDS = 4


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


def check_of(bench: TimedBench, boards: int) -> DueCheck:
    """A check of matches up to a number."""
    bench.client.set(keys.BOARDS, boards)
    times = DueTimes(bench.client, bench.store.layout())
    return DueCheck(times, DamagedMatches(bench.client), lambda: bench.now / 1000)


def listed(bench: TimedBench) -> dict[int, int]:
    """All due times, by board."""
    found: dict[int, int] = {}
    for shard in range(SHARDS):
        for board, score in bench.client.zrange(keys.due(shard), 0, -1, withscores=True):  # type: ignore[union-attr]
            found[int(board)] = int(score)
    return found


def test_a_match_that_is_missing_is_put_back_and_gets_its_flag(
    bench: TimedBench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.challenge(FLAG, 1, 2, 3)
    right = listed(bench)
    for shard in range(SHARDS):
        bench.client.delete(keys.due(shard))
    check_of(bench, 3).tick()
    assert listed(bench) == right
    assert alarms(caplog) == ["ALARM: the due times of 3 matches were wrong, and repaired"]
    bench.tick(bench.keeper(), 3 * DAY)
    assert [kind for kind, _ in bench.kept(2)] == [Flagged]


def test_wrong_times_and_what_is_never_due_are_put_right(bench: TimedBench) -> None:
    bench.challenge(SHORT, 1, 2, 3)
    bench.send(ALICE, ResignMatch(), 3)
    bench.drain()
    right = listed(bench)
    assert sorted(right) == [1, 2]
    bench.client.zadd(keys.due(1), {"1": 5})
    bench.client.zadd(keys.due(3), {"3": 7})
    check_of(bench, 3).tick()
    assert listed(bench) == right


def test_what_is_right_is_left_alone(bench: TimedBench, caplog: pytest.LogCaptureFixture) -> None:
    bench.challenge(SHORT, 1, 2, 3)
    bench.start(4)
    right = listed(bench)
    check_of(bench, 9).tick()
    assert listed(bench) == right
    assert alarms(caplog) == []


def test_a_round_is_made_in_small_steps_and_once_an_hour(bench: TimedBench) -> None:
    last = 2 * BOARDS_PER_TICK + 1
    bench.challenge(FLAG, 1, last)
    right = listed(bench)
    check = check_of(bench, last)
    bench.client.delete(keys.due(1 % SHARDS), keys.due(last % SHARDS))
    check.tick()
    assert listed(bench) == {1: right[1]}
    check.tick()
    assert listed(bench) == {1: right[1]}
    check.tick()
    assert listed(bench) == right
    bench.client.delete(keys.due(1))
    bench.now += int(ROUND_SECONDS * 1000) - 1000
    check.tick()
    assert 1 not in listed(bench)
    bench.now += 1000
    check.tick()
    assert 1 in listed(bench)


def test_a_match_that_moved_on_meanwhile_is_left_to_its_commit(bench: TimedBench) -> None:
    bench.challenge(SHORT, 1)
    times = DueTimes(bench.client, bench.store.layout())
    ((data, _),) = times.read([1])
    bench.now += DAY // 2
    bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.drain()
    right = listed(bench)
    assert not times.repair(1, unpack_snapshot(data).head, 12345)
    assert listed(bench) == right


def test_a_match_that_can_not_be_read_is_noted_and_the_others_are_mended(
    bench: TimedBench,
) -> None:
    bench.challenge(FLAG, 1, 2)
    right = listed(bench)
    bench.client.set(keys.snapshot(1, 1), bytes(40))
    bench.client.delete(keys.due(2))
    check_of(bench, 2).tick()
    assert listed(bench) == right
    assert list(DamagedMatches(bench.client).all()) == [1]
