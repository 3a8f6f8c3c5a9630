"""The scheduler on a real server, in a time of the test's own, and what hinders it."""

from functools import partial
from pathlib import Path

import msgspec
import pytest
from redis import Redis

from domain.clocks.time_control import DAY, TimeControl
from domain.errors import Code
from domain.match.clocks import late_seats
from domain.match.commands import FlagPlayer, PlayMove, RemindPlayer, ResignMatch, StartMatch
from domain.match.decide import decide
from domain.match.events import Flagged, Nagged
from domain.match.history import Snapshot, pack_snapshot, unpack_snapshot
from domain.records import SERVER_ACCOUNT, command_id
from infra.process.intervals import seldom_if_quiet
from infra.redis import keys
from infra.store.outcomes import parse
from infra.store.port import MOST_AHEAD_MS, MOST_REFUSALS, refusal_field
from infra.store.server_clock import ServerClock, ServerClockRecord
from infra.store.snapshots import with_marks
from infra.store.store_calls import repair_due
from tests.helpers.given import ALICE
from tests.helpers.robots import EASY
from tests.helpers.timed import BEGIN, FLAG, HOUR, SHORT, TimedBench, alarms
from workers import scheduler as scheduler_module
from workers.clock_check import NOTE_MS, ClockCheck
from workers.scheduler import DUE_PER_SHARD, RETRY_SECONDS, ROBOT_GRACE_SECONDS, Scheduler

SHARDS = range(4)
SECOND, MINUTE = 1_000, 60_000


AGAIN_MS = int(RETRY_SECONDS * 1000)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


@pytest.fixture
def keeper(bench: TimedBench) -> Scheduler:
    return bench.keeper()


def test_a_server_is_quiet_some_seconds_after_its_last_commit(bench, keeper):
    settle = int(scheduler_module.SETTLE_SECONDS * 1000)
    bench.tick(keeper, 0)
    bench.tick(keeper, settle)
    assert keeper.is_quiet()
    bench.challenge(SHORT, 1)
    bench.tick(keeper, settle + 1_000)
    assert not keeper.is_quiet()
    bench.tick(keeper, 2 * settle + 999)
    assert not keeper.is_quiet()
    bench.tick(keeper, 2 * settle + 1_000)
    assert keeper.is_quiet()
    # a log is looked for from its beginning once a minute, which is no news
    bench.tick(keeper, 20 * settle)
    assert keeper.is_quiet()


def test_a_scheduler_rests_unless_a_command_waits_or_a_match_is_due_soon(bench, keeper):
    soon = int(2_000 * scheduler_module.REST_SECONDS)
    assert not keeper.rests()
    bench.challenge(SHORT, 1)
    bench.tick(keeper, 0)
    assert keeper.rests()
    bench.send(ALICE, PlayMove("m13-j7"), 1)
    keeper.tick()
    assert not keeper.rests()
    bench.drain()
    bench.tick(keeper, DAY - soon - 1)
    assert keeper.rests()
    bench.tick(keeper, DAY - soon)
    assert not keeper.rests()
    bench.tick(keeper, DAY)
    assert [kind for kind, _ in bench.kept()] == [Nagged]


def test_what_no_move_changes_follows_none(bench, keeper):
    bench.challenge(SHORT, 1)
    bench.tick(keeper, 0)
    settle = int(scheduler_module.SETTLE_SECONDS * 1000)
    bench.tick(keeper, settle)
    assert keeper.is_quiet(but_for_moves=True)
    bench.send(ALICE, PlayMove("m13-j7"), 1)
    bench.drain()
    bench.tick(keeper, settle + 1_000)
    assert not keeper.is_quiet()
    assert keeper.is_quiet(but_for_moves=True)
    bench.send(ALICE, ResignMatch(), 1)
    bench.drain()
    bench.tick(keeper, settle + 2_000)
    assert not keeper.is_quiet(but_for_moves=True)


def test_what_follows_from_commits_is_looked_for_seldom_while_there_is_none():
    now, calls, quiet = [0.0], list[float](), [True]
    tick = seldom_if_quiet(10, lambda: calls.append(now[0]), lambda: quiet[0], lambda: now[0])
    for second in range(31):
        now[0], quiet[0] = second, not 12 <= second < 15
        tick()
    assert calls == [0, 10, 12, 13, 14, 24]


def test_a_due_time_that_was_repaired_is_found_within_a_minute(bench, keeper):
    bench.challenge(SHORT, 1)
    bench.client.delete(keys.due(1))
    for after in (DAY, DAY + SECOND):
        bench.tick(keeper, after)
    assert bench.kept() == []
    bench.client.zadd(keys.due(1), {"1": BEGIN + DAY})
    bench.tick(keeper, DAY + SECOND + int(scheduler_module.READ_AGAIN_SECONDS * 1000))
    assert [kind for kind, _ in bench.kept()] == [Nagged]


def test_a_match_that_is_listed_too_early_is_put_right_by_the_tick_that_meets_it(bench):
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


@pytest.mark.long
def test_a_backlog_is_sent_in_parts_that_do_not_flood_the_inboxes(bench, keeper):
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


@pytest.mark.parametrize(
    ("command", "word"), [(FlagPlayer(ply=4), "Flag"), (RemindPlayer(ply=4), "Nag")]
)
def test_the_ids_of_commands_are_those_of_earlier_versions(command, word):
    needs = scheduler_module._DueCommand(7, 3, command, 4)
    submission = scheduler_module._submission(scheduler_module._DueMatch(needs))
    assert submission.id == command_id("keeper", SERVER_ACCOUNT, f"7 3 {word}")


def test_what_was_turned_away_or_lost_is_sent_again(bench, keeper, caplog):
    bench.challenge(SHORT, 1)
    bench.now = BEGIN + DAY
    bench.store._cap = 0
    keeper.tick()
    assert bench.waits() == 0, "the inbox is full"
    bench.store._cap = 1
    bench.now += SECOND
    keeper.tick()
    assert bench.waits() == 1
    bench.client.delete(keys.inbox(1))
    bench.now += AGAIN_MS - 1
    keeper.tick()
    assert bench.waits() == 0, "it may still lead to something"
    bench.tick(keeper, DAY + SECOND + AGAIN_MS)
    assert bench.kept() == [(Nagged, DAY + SECOND + AGAIN_MS)]
    assert alarms(caplog) == []


def spoil(bench: TimedBench, board: int) -> bytes:
    """Make a match's snapshot unreadable; gives what it was."""
    name = keys.snapshot(board % len(SHARDS), board)
    before = bench.client.get(name)
    bench.client.set(name, before[:32] + b"\xc1")
    return before


def test_many_matches_that_can_not_be_read_leave_room_for_those_behind_them(bench, keeper):
    boards = [4 * number for number in range(1, DUE_PER_SHARD + 2)]
    bench.challenge(FLAG, *boards)
    bench.now += HOUR
    bench.challenge(FLAG, 4_000)
    for board in boards:
        spoil(bench, board)
    bench.tick(keeper, 4 * DAY)
    assert bench.kept(4_000) == []
    bench.tick(keeper, 4 * DAY + SECOND)
    assert bench.kept(4_000) == [(Flagged, 4 * DAY + SECOND)]


def test_a_flag_on_which_the_rules_fail_is_tried_each_minute_until_it_falls(bench, keeper, caplog):
    def fails_on_flags(order, *given):
        if isinstance(order.command, FlagPlayer):
            raise ZeroDivisionError("a bug in a game")
        return decide(order, *given)

    bench.challenge(FLAG, 1)
    for second in range(180):
        bench.now = BEGIN + 3 * DAY + second * SECOND
        keeper.tick()
        bench.drain(decider=fails_on_flags)
    found = (parse(stored).code for stored in bench.store.outcomes(1).values())
    assert [code for code in found if code] == [Code.INTERNAL] * 3
    assert len([alarm for alarm in alarms(caplog) if "the flag that match 1" in alarm]) == 1
    for second in range(180, 240):
        bench.tick(keeper, 3 * DAY + second * SECOND)
    assert [kind for kind, _ in bench.kept()] == [Flagged]


def test_a_flag_refused_too_often_is_an_alarm_and_no_flood(bench, keeper, caplog):
    bench.challenge(FLAG, 1)
    bench.client.hset(keys.refusals(1, 1), refusal_field(SERVER_ACCOUNT, 0), str(MOST_REFUSALS))
    for second in range(150):
        bench.tick(keeper, 3 * DAY + second * SECOND)
    (alarm,) = alarms(caplog)
    assert "the flag that match 1 needs is refused as too-many-refusals" in alarm
    assert bench.kept() == []
    bench.client.delete(keys.refusals(1, 1))
    bench.tick(keeper, 3 * DAY + 3 * AGAIN_MS)
    assert [kind for kind, _ in bench.kept()] == [Flagged]


def ran_ahead(bench: TimedBench, before_deadline: int, ahead: int) -> None:
    """Let the clock run ahead, so long before the mover's deadline, and put it right."""
    bench.now = BEGIN + 3 * DAY - before_deadline + ahead
    bench.store.watermark()
    bench.now -= ahead


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
    bench, keeper, before_deadline, ahead, code
):
    bench.challenge(FLAG, 1, 2)
    ran_ahead(bench, before_deadline, ahead)
    order = bench.send(ALICE, PlayMove(text="m13-m9"), 2)
    bench.drain()
    assert bench.outcome(order).code == code
    # and no flag falls before the clock itself shows the deadline
    bench.tick(keeper, 3 * DAY - 1)
    assert bench.kept() == []
    bench.tick(keeper, 3 * DAY)
    assert [kind for kind, _ in bench.kept()] == [Flagged]


@pytest.mark.parametrize("ahead", [HOUR, -60_001])
def test_while_the_clocks_are_apart_nothing_is_sent_and_afterwards_all_once(
    bench, keeper, caplog, ahead
):
    bench.challenge(SHORT, 1, 2)
    bench.challenge(TimeControl(nag=2, forfeit=9), 3)
    bench.ahead = ahead
    for after in range(DAY, 4 * DAY, HOUR):
        bench.tick(keeper, after)
    assert bench.kept() == []
    (alarm,) = alarms(caplog)
    assert f"the clock of the matches' server is {round(-ahead / 1000):+d} s from" in alarm
    assert "no reminder is sent and no flag falls until they agree" in alarm
    bench.send(ALICE, PlayMove(text="nonsense"))
    keeper.tick()
    assert bench.pump() == 1, "lost wake-ups are still made good"
    bench.ahead = 60_000 if ahead > 0 else -60_000
    for second in range(3):
        bench.tick(keeper, 4 * DAY + second * SECOND)
    assert bench.kept(1) == bench.kept(2) == [(Flagged, 4 * DAY)]
    assert bench.kept(3) == [(Nagged, 4 * DAY)]
    assert "the clocks agree again" in caplog.text
    bench.ahead = ahead
    keeper.tick()
    assert len(alarms(caplog)) == 2


@pytest.mark.parametrize("disorder", [False, True])
def test_a_clock_that_can_not_be_read_is_said_once_and_stops_no_other(
    bench, keeper, caplog, disorder
):
    """The snapshot, or the record of the turns in it."""
    bench.challenge(TimeControl(nag=0, forfeit=0, bank=3), 1)
    bench.challenge(FLAG, 5, 2)
    before = bench.client.get(keys.snapshot(1, 1))
    if disorder:
        snapshot = unpack_snapshot(bench.store.snapshots([1])[0])
        odd = msgspec.structs.replace(snapshot.state.clock, turns=b"no record")
        state = msgspec.structs.replace(snapshot.state, clock=odd)
        packed = pack_snapshot(Snapshot(snapshot.head, state))
        bench.client.set(keys.snapshot(1, 1), with_marks(packed.state, b""))
        bench.client.set(keys.turns(1, 1), packed.turns)
    else:
        spoil(bench, 1)
    for second in range(5):
        bench.tick(keeper, 3 * DAY + second * SECOND)
    assert bench.kept(5) == bench.kept(2) == [(Flagged, 3 * DAY)]
    assert alarms(caplog) == ["ALARM: the clocks of match 1 can't be read"]
    assert bench.woken == []
    bench.client.set(keys.snapshot(1, 1), before)
    bench.client.delete(keys.turns(1, 1))
    bench.tick(keeper, 4 * DAY)
    assert bench.kept(1) == [(Flagged, 4 * DAY)]


# the server's clock is set forward or back: no flag falls until it has been steady for an hour

AHEAD = 40 * DAY


class Wall(TimedBench):
    """A bench whose clock can be set: `off` is by how much, ms; the timer of its keepers runs on."""

    def __init__(self, client: Redis, seeds: Path) -> None:
        super().__init__(client, seeds)
        self.real = BEGIN
        self.stops = 0
        self.watched = self.new_keeper()

    def new_keeper(self) -> Scheduler:
        """A keeper that has just been started."""
        return Scheduler(
            self.store,
            self.lanes,
            lambda: self.now,
            lambda: self.real / 1000,
            clock_check=ClockCheck(ServerClockRecord(self.client), lambda: self.real / 1000),
        )

    def pass_time(self, ms: int, off: int | None = None) -> None:
        """Let time pass and tick; the clock is then `off`."""
        self.real += ms
        self.stops = self.stops if off is None else off
        self.now = self.real + self.stops
        self.watched.tick()
        self.pump()

    def restart(self) -> None:
        """Take a keeper that knows only what was kept."""
        self.watched = self.new_keeper()


@pytest.fixture
def wall(redis_client: Redis, tmp_path: Path) -> Wall:
    return Wall(redis_client, tmp_path / "seeds")


def test_while_the_clock_is_ahead_no_flag_falls_and_afterwards_all_is_as_it_was(wall, caplog):
    wall.challenge(FLAG, 1)
    wall.pass_time(SECOND)
    for _ in range(600):
        wall.pass_time(SECOND, AHEAD)
    assert wall.kept() == []
    wall.pass_time(SECOND, 0)
    for _ in range(70):
        wall.pass_time(60 * SECOND)
    assert wall.kept() == []
    assert [text.split(" by ")[0] for text in alarms(caplog)] == [
        "ALARM: the clock of the matches' server was set forward",
        "ALARM: the clock of the matches' server was set back",
    ]
    assert "has been steady for an hour; flags fall again" in caplog.text
    wall.pass_time(3 * DAY)
    assert [kind for kind, _ in wall.kept()] == [Flagged]


def test_a_clock_that_was_set_back_while_nobody_looked_is_seen(wall, caplog):
    wall.pass_time(SECOND)
    wall.restart()
    wall.pass_time(HOUR, -2 * HOUR)
    (alarm,) = alarms(caplog)
    assert alarm == (
        "ALARM: the clock of the matches' server was set back by 3600 s; no reminder is sent and no "
        "flag falls for an hour: check whether it is right now"
    )


def test_a_restart_does_not_end_the_hour(wall):
    wall.challenge(FLAG, 1)
    wall.pass_time(SECOND)
    wall.pass_time(SECOND, AHEAD)
    for _ in range(59):
        wall.restart()
        wall.pass_time(60 * SECOND)
    assert wall.kept() == []
    wall.pass_time(61 * SECOND)
    assert [kind for kind, _ in wall.kept()] == [Flagged]


def test_a_step_that_another_scheduler_stored_is_believed_and_kept_by_a_check_that_ends(
    redis_client,
):
    notes, seconds = ServerClockRecord(redis_client), 0.0
    check = ClockCheck(notes, lambda: seconds)
    check.close()
    assert notes.read() == ServerClock(), "it has seen nothing"
    assert check.is_steady(BEGIN)
    notes.write(ServerClock(BEGIN, AHEAD, BEGIN))
    seconds = NOTE_MS / 1000
    check.is_steady(BEGIN + NOTE_MS)
    assert notes.read() == ServerClock(BEGIN + NOTE_MS, AHEAD, BEGIN)
    seconds += 1
    assert not check.is_steady(BEGIN + NOTE_MS + SECOND)
    seconds += 19
    check.is_steady(BEGIN + NOTE_MS + 20 * SECOND)
    check.close()
    assert notes.read() == ServerClock(BEGIN + NOTE_MS + 20 * SECOND, AHEAD, BEGIN)
    late = ClockCheck(notes, lambda: seconds)
    assert not late.is_steady(BEGIN - 60 * SECOND), "it was set back"


def test_a_robot_that_is_late_when_its_server_comes_back_may_still_move(redis_client, tmp_path):
    timed = TimedBench(redis_client, tmp_path / "seeds")
    timed.send(ALICE, StartMatch(rules="pow2/1", options=(), seats=(EASY, ALICE), terms=FLAG))
    timed.drain()
    week = 7 * DAY
    timed.now = BEGIN + week
    keeper = timed.keeper()  # which has just been started
    timed.tick(keeper, week)
    timed.tick(keeper, week + int(ROBOT_GRACE_SECONDS * 1_000) - 1)
    assert timed.kept() == []
    assert late_seats(timed.state(), timed.now) == [0]
    sent = timed.send(EASY, PlayMove(text="m13-m9"))
    timed.drain()
    assert timed.outcome(sent).accepted
    assert timed.state().next == 1
