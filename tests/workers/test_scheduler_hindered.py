"""The keeper and what hinders it: clocks set back, snapshots that can't be read, rules that fail."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from redis import Redis

from domain.clocks.time_control import DAY, TimeControl
from domain.errors import Code
from domain.match.commands import CommandEnvelope, FlagPlayer
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.events import SERVER_ACCOUNT, Flagged
from domain.match.history import Snapshot, pack_snapshot, unpack_snapshot
from domain.match.state import MatchState
from infra.redis import keys
from infra.store.log_streams import ShardNews
from infra.store.outcomes import parse
from infra.store.port import MOST_REFUSALS, refusal_field
from infra.store.snapshots import with_marks
from tests.helpers.timed import BEGIN, FLAG, HOUR, TimedBench, TimedStore, alarms
from workers.scheduler import DUE_PER_SHARD, RETRY_SECONDS, Scheduler

SHARDS = range(4)
AGAIN_MS = int(RETRY_SECONDS * 1000)


@pytest.fixture
def bench(redis_client: Redis, tmp_path: Path) -> TimedBench:
    return TimedBench(redis_client, tmp_path / "seeds")


@pytest.fixture
def keeper(bench: TimedBench) -> Scheduler:
    return bench.keeper()


class Leaping(TimedStore):
    """A store whose clock is set back between a look at it and the next stamp."""

    back = 0

    def news(self, ends: Sequence[int]) -> tuple[int, list[ShardNews]]:
        now, found = super().news(ends)
        return now + self.back, found


class LeapingBench(TimedBench):
    make_store = Leaping


def test_a_flag_made_too_early_by_a_clock_that_was_set_back_falls_all_the_same(
    redis_client: Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = LeapingBench(redis_client, tmp_path / "seeds")
    bench.challenge(FLAG, 1)
    keeper = bench.keeper()
    Leaping.back = 30_000
    bench.tick(keeper, 3 * DAY - 30_000)
    Leaping.back = 0
    assert codes(bench) == [Code.TOO_EARLY]
    for second in range(-29, 61):
        bench.tick(keeper, 3 * DAY + second * 1_000)
    assert bench.kept() == [(Flagged, 3 * DAY + 1_000)]
    assert "match 1: its flag is refused as too-early; retrying" in caplog.text
    assert alarms(caplog) == []


# a match whose clocks can't be kept


def spoil(bench: TimedBench, board: int) -> bytes:
    """Make a match's snapshot unreadable; gives what it was."""
    name = keys.snapshot(board % len(SHARDS), board)
    before = bench.client.get(name)
    assert before is not None
    bench.client.set(name, before[:32] + b"\xc1")
    return before


def test_a_snapshot_that_can_not_be_read_is_said_once_and_stops_no_other_clock(
    bench: TimedBench, keeper: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    bench.challenge(FLAG, 1, 5, 2)
    whole = spoil(bench, 1)
    for second in range(5):
        bench.tick(keeper, 3 * DAY + second * 1_000)
    assert bench.kept(5) == bench.kept(2) == [(Flagged, 3 * DAY)]
    assert alarms(caplog) == ["ALARM: the clocks of match 1 can't be read"]
    assert bench.woken == []
    bench.client.set(keys.snapshot(1, 1), whole)
    bench.tick(keeper, 4 * DAY)
    assert bench.kept(1) == [(Flagged, 4 * DAY)]


def test_a_clock_in_disorder_stops_no_other_clock(
    bench: TimedBench, keeper: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    bench.challenge(TimeControl(nag=0, forfeit=0, bank=3), 1)
    bench.challenge(FLAG, 5)
    snapshot = unpack_snapshot(bench.store.snapshots([1])[0])
    odd = msgspec.structs.replace(snapshot.state.clock, turns=b"no record")
    state = msgspec.structs.replace(snapshot.state, clock=odd)
    packed = pack_snapshot(Snapshot(snapshot.head, state))
    bench.client.set(keys.snapshot(1, 1), with_marks(packed.state, b""))
    bench.client.set(keys.turns(1, 1), packed.turns)
    bench.tick(keeper, 3 * DAY)
    assert bench.kept(5) == [(Flagged, 3 * DAY)]
    assert alarms(caplog) == ["ALARM: the clocks of match 1 can't be read"]


def test_many_matches_that_can_not_be_read_leave_room_for_those_behind_them(
    bench: TimedBench, keeper: Scheduler
) -> None:
    boards = [4 * number for number in range(1, DUE_PER_SHARD + 2)]
    bench.challenge(FLAG, *boards)
    bench.now += HOUR
    bench.challenge(FLAG, 4_000)
    for board in boards:
        spoil(bench, board)
    bench.tick(keeper, 4 * DAY)
    assert bench.kept(4_000) == []
    bench.tick(keeper, 4 * DAY + 1_000)
    assert bench.kept(4_000) == [(Flagged, 4 * DAY + 1_000)]


def fails_on_flags(
    order: CommandEnvelope, state: MatchState, given: DecisionContext
) -> Decision | Rejection:
    """Decide as ever, but fail on flags."""
    if isinstance(order.command, FlagPlayer):
        raise ZeroDivisionError("a bug in a game")
    return decide(order, state, given)


def test_a_flag_on_which_the_rules_fail_is_tried_each_minute_until_it_falls(
    bench: TimedBench, keeper: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    bench.challenge(FLAG, 1)
    for second in range(180):
        bench.now = BEGIN + 3 * DAY + second * 1_000
        keeper.tick()
        bench.drain(decider=fails_on_flags)
    assert codes(bench) == [Code.INTERNAL] * 3
    assert len([alarm for alarm in alarms(caplog) if "the flag that match 1" in alarm]) == 1
    for second in range(180, 240):
        bench.tick(keeper, 3 * DAY + second * 1_000)
    assert [kind for kind, _ in bench.kept()] == [Flagged]


def test_a_new_keeper_finds_its_way_past_what_was_refused(bench: TimedBench) -> None:
    bench.challenge(FLAG, 1)
    bench.now = BEGIN + 3 * DAY
    keeper = bench.keeper()
    for second in range(3 * 62):
        bench.now = BEGIN + 3 * DAY + second * 1_000
        keeper.tick()
        bench.drain(decider=fails_on_flags)
    refused = len(codes(bench))
    keeper = bench.keeper()
    for second in range(refused + 1):
        bench.tick(keeper, 4 * DAY + second * 1_000)
    assert [kind for kind, _ in bench.kept()] == [Flagged]


def test_a_flag_refused_too_often_is_an_alarm_and_no_flood(
    bench: TimedBench, keeper: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    bench.challenge(FLAG, 1)
    bench.client.hset(keys.refusals(1, 1), refusal_field(SERVER_ACCOUNT, 0), str(MOST_REFUSALS))
    for second in range(150):
        bench.tick(keeper, 3 * DAY + second * 1_000)
    (alarm,) = alarms(caplog)
    assert "the flag that match 1 needs is refused as too-many-refusals" in alarm
    assert bench.kept() == []
    bench.client.delete(keys.refusals(1, 1))
    bench.tick(keeper, 3 * DAY + 3 * AGAIN_MS)
    assert [kind for kind, _ in bench.kept()] == [Flagged]


def codes(bench: TimedBench) -> list[str]:
    """The codes of all refusals in a bench's first match."""
    found = (parse(stored).code for stored in bench.store.outcomes(1).values())
    return [code for code in found if code]
