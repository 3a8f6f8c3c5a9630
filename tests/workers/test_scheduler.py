"""The keeper on a real server, in a time of the test's own."""

from functools import partial
from pathlib import Path

import pytest
from redis import Redis

from domain.clocks.time_control import DAY, TimeControl
from domain.errors import Code
from domain.match.audit import verify
from domain.match.commands import FlagPlayer, PlayMove, RemindPlayer, ResignMatch
from domain.match.events import SERVER_ACCOUNT, Flagged, Nagged, command_id
from domain.match.history import unpack_snapshot
from domain.match.state import Reason
from infra.redis import keys
from infra.store.store_calls import repair_due
from tests.helpers.given import ALICE
from tests.helpers.lanes import LANE
from tests.helpers.timed import BEGIN, FLAG, HOUR, SHORT, TimedBench, alarms
from workers import scheduler as scheduler_module
from workers.scheduler import DUE_PER_SHARD, RETRY_SECONDS, Scheduler

SHARDS = range(4)
AGAIN_MS = int(RETRY_SECONDS * 1000)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


@pytest.fixture
def keeper(bench: TimedBench) -> Scheduler:
    return bench.keeper()


def test_a_reminder_and_a_flag_come_at_their_time_and_not_a_millisecond_before(
    bench: TimedBench, keeper: Scheduler
) -> None:
    bench.challenge(SHORT, 1)
    bench.tick(keeper, DAY - 1)
    assert bench.kept() == []
    bench.tick(keeper, DAY)
    assert bench.kept() == [(Nagged, DAY)]
    bench.tick(keeper, 3 * DAY - 1)
    assert bench.kept() == [(Nagged, DAY)]
    bench.tick(keeper, 3 * DAY)
    assert bench.kept() == [(Nagged, DAY), (Flagged, 3 * DAY)]
    result = bench.state().result
    assert result is not None
    assert (result.winners, result.reason) == ((1,), Reason.TIME)
    assert verify(1, bench.store.events(1)).state.over


def test_what_was_kept_is_not_kept_again(bench: TimedBench, keeper: Scheduler) -> None:
    bench.challenge(SHORT, 1)
    for after in range(DAY, 5 * DAY, HOUR):
        bench.tick(keeper, after)
    assert bench.kept() == [(Nagged, DAY), (Flagged, 3 * DAY)]
    assert bench.store.outcomes(1).keys() == {e.command for e in bench.envelopes(1, object)}


def test_a_match_without_clocks_is_left_alone(bench: TimedBench, keeper: Scheduler) -> None:
    bench.start(1)
    bench.tick(keeper, 4_000 * DAY)
    assert len(bench.store.events(1)) == 1


def test_a_tick_asks_for_the_drain_of_what_it_sent(bench: TimedBench, keeper: Scheduler) -> None:
    bench.challenge(SHORT, 1)
    bench.woken.clear()
    keeper.tick()
    assert bench.woken == []
    bench.now += DAY
    keeper.tick()
    assert bench.woken == [LANE]


def test_a_move_that_was_in_the_inbox_before_stops_the_flag(
    bench: TimedBench, keeper: Scheduler
) -> None:
    bench.challenge(FLAG, 1)
    bench.now = BEGIN + 3 * DAY - 1
    move = bench.send(ALICE, PlayMove(text="m13-m9"))
    # no drain has come to it yet when the time is over
    bench.now = BEGIN + 3 * DAY
    keeper.tick()
    bench.now += HOUR
    keeper.tick()
    assert bench.pump() == 2
    outcome = bench.outcome(move)
    assert outcome is not None
    assert outcome.accepted
    assert bench.kept() == []
    assert not bench.state().over
    bench.tick(keeper, 6 * DAY - 2)
    assert bench.kept() == []
    bench.tick(keeper, 6 * DAY - 1)
    assert bench.kept() == [(Flagged, 6 * DAY - 1)]


@pytest.mark.parametrize("late", [0, 1, 5 * DAY])
def test_a_move_that_comes_when_the_time_is_over_is_refused_whether_the_flag_fell_or_not(
    bench: TimedBench, late: int
) -> None:
    bench.challenge(SHORT, 1)
    bench.now = BEGIN + 3 * DAY + late
    move = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.drain()
    outcome = bench.outcome(move)
    assert outcome is not None
    assert outcome.code == Code.TIME_OVER
    assert bench.kept() == []


def test_a_reminder_held_up_in_the_inbox_and_a_flag_behind_it_both_keep_their_times(
    bench: TimedBench, keeper: Scheduler
) -> None:
    bench.challenge(SHORT, 1)
    for after in (DAY, 2 * DAY, 3 * DAY, 4 * DAY):
        bench.now = BEGIN + after
        keeper.tick()
    bench.pump()
    assert bench.kept() == [(Nagged, DAY), (Flagged, 3 * DAY)]


def test_a_keeper_that_was_away_gives_the_flag_and_no_reminder(
    bench: TimedBench, keeper: Scheduler
) -> None:
    bench.challenge(SHORT, 1)
    bench.tick(keeper, 10 * DAY)
    bench.tick(keeper, 10 * DAY + 1_000)
    assert bench.kept() == [(Flagged, 10 * DAY)]


def test_several_keepers_and_new_ones_send_what_is_carried_out_once(bench: TimedBench) -> None:
    bench.challenge(SHORT, 1)
    one, another = bench.keeper(), bench.keeper()
    for after in (DAY, 3 * DAY):
        bench.now = BEGIN + after
        for keeper in (one, another, bench.keeper(), one, another):
            keeper.tick()
        assert bench.waits() == 3
        bench.pump()
        bench.keeper().tick()
        assert bench.waits() == 0
    assert bench.kept() == [(Nagged, DAY), (Flagged, 3 * DAY)]


# what a tick costs


def commands(client: Redis) -> int:
    """Count the commands that the server has run."""
    return int(client.info("stats")["total_commands_processed"])


def test_an_idle_tick_is_one_command_for_all_shards(bench: TimedBench, keeper: Scheduler) -> None:
    bench.challenge(SHORT, 1, 2, 3)
    for after in (0, 1_000):
        bench.tick(keeper, after)
    before = commands(bench.client)
    for number in range(10):
        bench.tick(keeper, 2_000 + number)
    # and the question itself
    assert commands(bench.client) - before == 10 + 1


def test_a_due_time_that_was_repaired_is_found_within_a_minute(
    bench: TimedBench, keeper: Scheduler
) -> None:
    bench.challenge(SHORT, 1)
    bench.client.delete(keys.due(1))
    for after in (DAY, DAY + 1_000):
        bench.tick(keeper, after)
    assert bench.kept() == []
    bench.client.zadd(keys.due(1), {"1": BEGIN + DAY})
    bench.tick(keeper, DAY + 1_000 + int(scheduler_module.READ_AGAIN_SECONDS * 1000))
    assert [kind for kind, _ in bench.kept()] == [Nagged]


def test_a_match_that_is_listed_too_early_is_put_right_by_the_tick_that_meets_it(
    bench: TimedBench,
) -> None:
    bench.challenge(SHORT, 1, 2)
    bench.send(ALICE, ResignMatch(), 2)
    bench.drain()
    repair = partial(repair_due, bench.client, bench.store.layout().shards)
    bench.client.zadd(keys.due(1), {"1": BEGIN + 1})
    bench.client.zadd(keys.due(2), {"2": BEGIN + 1})
    keeper = Scheduler(
        bench.store, bench.lanes, lambda: bench.now, lambda: bench.now / 1000, repair=repair
    )
    bench.tick(keeper, 1_000)
    assert bench.client.zrange(keys.due(1), 0, -1, withscores=True) == [(b"1", BEGIN + DAY)]
    assert not bench.client.exists(keys.due(2))
    bench.tick(keeper, DAY)
    assert [kind for kind, _ in bench.kept()] == [Nagged]


def test_a_due_time_of_a_match_that_has_moved_on_is_left_to_its_commit(bench: TimedBench) -> None:
    bench.challenge(SHORT, 1)
    (data,) = bench.store.snapshots([1])
    bench.now += DAY // 2
    bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.drain()
    right = bench.client.zscore(keys.due(1), "1")
    repair = partial(repair_due, bench.client, bench.store.layout().shards)
    assert not repair(1, unpack_snapshot(data).head, 12345)
    assert bench.client.zscore(keys.due(1), "1") == right


# what waits, and what is lost


def test_what_waits_for_a_drain_is_not_sent_again_however_long_it_waits(
    bench: TimedBench, keeper: Scheduler
) -> None:
    bench.challenge(SHORT, 1)
    for minute in range(60):
        bench.now = BEGIN + DAY + minute * AGAIN_MS
        keeper.tick()
        assert bench.waits() == 1
    bench.pump()
    assert bench.kept() == [(Nagged, DAY)]


def test_what_is_in_the_inbox_no_more_and_led_to_nothing_is_sent_again_after_a_minute(
    bench: TimedBench, keeper: Scheduler
) -> None:
    bench.challenge(SHORT, 1)
    bench.now = BEGIN + DAY
    keeper.tick()
    bench.client.delete(keys.inbox(1))
    bench.now += AGAIN_MS - 1
    keeper.tick()
    assert bench.waits() == 0
    bench.tick(keeper, DAY + AGAIN_MS)
    assert bench.kept() == [(Nagged, DAY + AGAIN_MS)]


def test_what_a_full_inbox_turned_away_is_sent_by_the_next_tick(
    bench: TimedBench, keeper: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    bench.challenge(SHORT, 1)
    bench.now = BEGIN + DAY
    bench.store._cap = 0
    keeper.tick()
    assert bench.waits() == 0
    bench.store._cap = 1
    bench.tick(keeper, DAY + 1_000)
    assert bench.kept() == [(Nagged, DAY + 1_000)]
    assert alarms(caplog) == []


@pytest.mark.long
def test_a_backlog_is_sent_in_parts_that_do_not_flood_the_inboxes(
    bench: TimedBench, keeper: Scheduler
) -> None:
    boards = range(1, 2 * DUE_PER_SHARD * len(SHARDS) + 41)
    bench.challenge(TimeControl(nag=0, forfeit=1), *boards)
    bench.now = BEGIN + 9 * DAY
    for _ in range(10):
        keeper.tick()
        bench.now += AGAIN_MS
        assert [bench.store.inbox_size([shard]) for shard in SHARDS] == [DUE_PER_SHARD] * len(
            SHARDS
        )
    ticks = 0
    while bench.store.inbox_size(SHARDS):
        bench.pump()
        keeper.tick()
        ticks += 1
    assert ticks == 3
    assert all(len(bench.kept(board)) == 1 for board in boards)
    assert not any(bench.store.due_boards(shard, bench.now, 1) for shard in SHARDS)


# a clock that is wrong


@pytest.mark.parametrize("ahead", [HOUR, -HOUR, 60_001, -60_001])
def test_while_the_clocks_are_apart_nothing_is_sent_and_it_is_said_once(
    bench: TimedBench, keeper: Scheduler, caplog: pytest.LogCaptureFixture, ahead: int
) -> None:
    bench.challenge(SHORT, 1)
    bench.ahead = ahead
    for after in range(DAY, 5 * DAY, HOUR):
        bench.tick(keeper, after)
    assert bench.kept() == []
    (alarm,) = alarms(caplog)
    assert f"the clock of the matches' server is {round(-ahead / 1000):+d} s from" in alarm
    assert "no reminder is sent and no flag falls until they agree" in alarm


@pytest.mark.parametrize("ahead", [HOUR, -HOUR])
def test_once_the_clocks_agree_again_what_is_due_comes_once(
    bench: TimedBench, keeper: Scheduler, caplog: pytest.LogCaptureFixture, ahead: int
) -> None:
    bench.challenge(SHORT, 1, 2)
    bench.challenge(TimeControl(nag=2, forfeit=9), 3)
    bench.ahead = ahead
    bench.tick(keeper, 4 * DAY)
    bench.ahead = 0
    for second in range(3):
        bench.tick(keeper, 4 * DAY + second * 1_000)
    assert bench.kept(1) == bench.kept(2) == [(Flagged, 4 * DAY)]
    assert bench.kept(3) == [(Nagged, 4 * DAY)]
    assert "the clocks agree again" in caplog.text
    bench.ahead = ahead
    keeper.tick()
    assert len(alarms(caplog)) == 2


def test_while_the_clocks_are_apart_lost_wake_ups_are_still_made_good(
    bench: TimedBench, keeper: Scheduler
) -> None:
    bench.challenge(SHORT, 1)
    bench.ahead = HOUR
    bench.send(ALICE, PlayMove(text="m13-m9"))
    keeper.tick()
    assert bench.pump() == 1


@pytest.mark.parametrize("ahead", [60_000, -60_000])
def test_clocks_a_minute_apart_are_believed(
    bench: TimedBench, keeper: Scheduler, caplog: pytest.LogCaptureFixture, ahead: int
) -> None:
    bench.challenge(SHORT, 1)
    bench.ahead = ahead
    bench.tick(keeper, DAY)
    assert bench.kept() == [(Nagged, DAY)]
    assert alarms(caplog) == []


@pytest.mark.parametrize(
    ("command", "word"), [(FlagPlayer(ply=4), "Flag"), (RemindPlayer(ply=4), "Nag")]
)
def test_the_ids_of_commands_are_those_of_earlier_versions(command, word):
    needs = scheduler_module._DueCommand(7, 3, command, 4)
    submission = scheduler_module._submission(scheduler_module._DueMatch(needs))
    assert submission.id == command_id("keeper", SERVER_ACCOUNT, f"7 3 {word}")
