"""The server's clock is set forward or back: no flag falls until it has been steady for an hour."""

from pathlib import Path

import pytest
from redis import Redis

from domain.clocks.time_control import DAY
from domain.match.events import Flagged, Nagged
from infra.store.server_clock import HOLD_MS, ServerClock, ServerClockRecord
from tests.helpers.timed import BEGIN, FLAG, HOUR, SHORT, TimedBench, alarms
from workers.clock_check import NOTE_MS, ClockCheck
from workers.scheduler import Scheduler

SECOND = 1_000


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


@pytest.mark.long
@pytest.mark.parametrize("step", [61 * SECOND, HOUR, -61 * SECOND])
def test_what_is_due_comes_when_the_clock_has_been_steady_for_an_hour(wall, step):
    wall.challenge(SHORT, 1)
    wall.pass_time(DAY - SECOND)
    wall.pass_time(0, step)
    begin = wall.real
    while not wall.kept():
        wall.pass_time(SECOND)
        assert wall.real - begin <= HOLD_MS + abs(step) + SECOND
    assert [kind for kind, _ in wall.kept()] == [Nagged]
    assert wall.real - begin >= HOLD_MS


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


def test_a_step_that_another_scheduler_stored_is_kept_and_believed(redis_client):
    notes, seconds = ServerClockRecord(redis_client), 0.0
    check = ClockCheck(notes, lambda: seconds)
    assert check.is_steady(BEGIN)
    notes.write(ServerClock(BEGIN, AHEAD, BEGIN))
    seconds = NOTE_MS / 1000
    check.is_steady(BEGIN + NOTE_MS)
    assert notes.read() == ServerClock(BEGIN + NOTE_MS, AHEAD, BEGIN)
    seconds += 1
    assert not check.is_steady(BEGIN + NOTE_MS + SECOND)


def test_a_check_that_ends_stores_the_time_seen_last_and_keeps_a_step(redis_client):
    notes, seconds = ServerClockRecord(redis_client), 0.0
    check = ClockCheck(notes, lambda: seconds)
    check.close()
    assert notes.read() == ServerClock(), "it has seen nothing"
    assert check.is_steady(BEGIN)
    notes.write(ServerClock(BEGIN, AHEAD, BEGIN))
    seconds = 20.0
    check.is_steady(BEGIN + 20 * SECOND)
    check.close()
    assert notes.read() == ServerClock(BEGIN + 20 * SECOND, AHEAD, BEGIN)
    assert not ClockCheck(notes, lambda: seconds).is_steady(BEGIN - 60 * SECOND), "set back by 80 s"
