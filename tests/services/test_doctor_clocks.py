"""What the doctor says of the clocks: the machines', and those of the matches."""

import time
from pathlib import Path

import pytest
from redis import Redis

from domain.clocks.time_control import DAY, TimeControl
from infra.redis import keys
from infra.settings.settings import Settings
from infra.store.server_clock import ServerClock, ServerClockRecord
from infra.valkey.server import EmbeddedServer
from services.doctor import Finding, Level, gather, judge
from tests.helpers.timed import TimedBench

NAG = TimeControl(nag=1, forfeit=3)
HOUR = DAY // 24


def ours() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


@pytest.fixture
def settings(valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=valkey.url, shards=4)


def said(settings: Settings, apart: int = 0) -> list[Finding]:
    """What is said of the clocks when ours is so many ms ahead of the server's."""
    findings = judge(gather(settings, lambda: ours() + apart))
    return [finding for finding in findings if finding.about == "clock"]


def test_clocks_that_agree_and_matches_that_are_in_time_are_well(
    bench: TimedBench, settings: Settings
) -> None:
    bench.now = ours() - DAY + HOUR
    bench.challenge(NAG, 1, 2, 3)
    assert [(one.level, one.what) for one in said(settings)] == [
        (Level.OK, "this machine and the server agree on the time"),
        (Level.OK, "no reminder and no flag is overdue"),
    ]


def test_matches_that_are_overdue_are_counted_over_all_shards(
    bench: TimedBench, settings: Settings
) -> None:
    bench.now = ours() - DAY - 3 * HOUR
    bench.challenge(NAG, 1, 5)
    bench.now = ours() - DAY - HOUR
    bench.challenge(NAG, 2)
    bench.now = ours()
    bench.challenge(NAG, 3)
    finding = said(settings)[1]
    assert finding.level is Level.BAD
    assert finding.what == "3 matches are overdue for a reminder or a flag, the oldest for 3 h"
    assert "matchpost serve" in finding.remedy


def test_what_has_been_due_for_less_than_a_minute_is_in_time(
    bench: TimedBench, settings: Settings
) -> None:
    bench.now = ours() - DAY - 30_000
    bench.challenge(NAG, 1)
    assert [one.level for one in said(settings)] == [Level.OK, Level.OK]


def test_once_the_keeper_has_ticked_nothing_is_overdue(
    bench: TimedBench, settings: Settings
) -> None:
    bench.now = ours() - 10 * DAY
    bench.challenge(NAG, 1)
    assert said(settings)[1].what.startswith("1 match is overdue")
    bench.now = ours()
    bench.keeper().tick()
    bench.pump()
    assert said(settings)[1].level is Level.OK


@pytest.mark.parametrize("apart", [HOUR, -HOUR])
def test_a_clock_an_hour_wrong_is_said_whatever_is_overdue(
    bench: TimedBench, settings: Settings, apart: int
) -> None:
    bench.now = ours() - 2 * DAY
    bench.challenge(NAG, 1)
    difference, overdue = said(settings, apart)
    assert difference.level is overdue.level is Level.BAD
    assert "no reminder is sent and no flag falls" in difference.what
    assert "NTP" in difference.remedy


def test_a_match_that_is_never_due_is_never_overdue(
    bench: TimedBench, settings: Settings, redis_client: Redis
) -> None:
    bench.now = ours() - 900 * DAY
    bench.challenge(TimeControl(nag=0, forfeit=0), 1)
    bench.start(2)
    assert not redis_client.exists(keys.due(1), keys.due(2))
    assert said(settings)[1].level is Level.OK


def test_without_data_there_is_nothing_to_be_overdue(
    redis_client: Redis, settings: Settings
) -> None:
    redis_client.flushall()
    assert len(said(settings)) == 1


@pytest.mark.parametrize(
    ("step", "words"), [(40 * DAY, "set forward by 40 d"), (-2 * HOUR, "set back by 2 h")]
)
def test_a_clock_that_was_set_is_told_for_an_hour(
    bench: TimedBench, settings: Settings, step: int, words: str
) -> None:
    notes = ServerClockRecord(bench.client)
    notes.write(ServerClock(ours(), step, ours() - HOUR // 2 - 30_000))
    (finding,) = [one for one in said(settings) if one.level is Level.BAD]
    assert finding.what == (
        f"the server's clock was {words}; no reminder is sent and no flag falls for another 29 min"
    )
    notes.write(ServerClock(ours(), step, ours() - HOUR - 1))
    assert [one.level for one in said(settings)] == [Level.OK, Level.OK]
