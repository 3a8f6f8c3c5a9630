"""What a drain can not read, decide or commit costs its own match only."""

import logging
from collections.abc import Callable, Sequence

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.errors import Code
from domain.match.commands import CommandEnvelope, MakeOffer, PlayMove, StartMatch
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.events import OfferMade
from domain.match.history import EVENT_LIMIT
from domain.match.state import MatchState
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.leases import LeaseResult
from infra.store.port import CommitResult, Submission, Write
from infra.store.redis_store import RedisStore
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.lanes import LANE
from tests.helpers.writes import attempts_counted
from workers.commands import handle
from workers.commands.drain import TRIES, Drain
from workers.commands.handle import Decider


def test_an_entry_that_can_not_be_decoded_is_set_aside_with_an_alarm(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.start(1)
    bench.store.submit([Submission(1, b"i" * 16, b"digest..", b"garbage", ALICE, 0, "reply:1")])
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    with caplog.at_level(logging.ERROR):
        assert bench.drain() == 1
    assert "ALARM" in caplog.text
    assert bench.client.xlen(keys.dead_letters(1)) == 1
    assert bench.outcome(order) is not None


def test_a_snapshot_that_can_not_be_read_costs_its_own_match_only(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.start(1, 2, 5)
    name = keys.snapshot(1, 1)
    bench.client.set(name, bench.client.getrange(name, 0, 31) + b"\xc1")
    stuck, *others = [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in (1, 2, 5)]
    with caplog.at_level(logging.ERROR):
        assert bench.drain() == 3
    assert "ALARM: the snapshot of match 1 can't be read" in caplog.text
    outcome = bench.outcome(stuck)
    assert outcome is not None
    assert outcome.code == Code.INTERNAL
    assert [o.accepted for n in others if (o := bench.outcome(n))] == [True, True]


def test_an_event_that_can_not_be_sealed_costs_its_own_match_only(bench: Bench) -> None:
    bench.start(1, 2)

    def too_much(
        order: CommandEnvelope, state: MatchState, given: DecisionContext
    ) -> Decision | Rejection:
        if order.match == 1:
            return Decision((OfferMade(seat=0, kind="x" * EVENT_LIMIT),))
        return decide(order, state, given)

    stuck, other = [bench.send(ALICE, MakeOffer(kind="draw"), board) for board in (1, 2)]
    assert bench.drain(decider=too_much) == 2
    codes = [o.code for n in (stuck, other) if (o := bench.outcome(n))]
    assert codes == [Code.INTERNAL, ""]


def raises() -> None:
    raise ZeroDivisionError("a bug in a game")


def loops() -> None:
    while True:
        pass


def recurses() -> None:
    recurses()


def allocates() -> None:
    raise MemoryError


def failing(way: Callable[[], None], times: int = 1_000) -> Decider:
    """Decide as the rules do, but fail on the move m13-j7 that often."""
    failures = iter(range(times))

    def decider(
        order: CommandEnvelope, state: MatchState, given: DecisionContext
    ) -> Decision | Rejection:
        if order.command == PlayMove(text="m13-j7") and next(failures, None) is not None:
            way()
        return decide(order, state, given)

    return decider


@pytest.mark.parametrize(
    "way", [raises, pytest.param(loops, marks=pytest.mark.long), recurses, allocates]
)
@pytest.mark.usefixtures("cpu_limit")
def test_a_game_that_fails_costs_its_own_match_only(bench: Bench, way: Callable[[], None]) -> None:
    bench.start(1, 2, 5)
    poison = bench.send(ALICE, PlayMove(text="m13-j7"), 1)
    behind = bench.send(ALICE, MakeOffer(kind="draw"), 1)
    neighbours = [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in (2, 5)]
    decider, done = failing(way), 0
    # on a busy machine a drain's turn may end before it has used its seconds of CPU time
    while bench.store.inbox_size(range(4)):
        done += bench.drain(decider=decider)
    assert done == 4
    outcome = bench.outcome(poison)
    assert outcome is not None
    assert outcome.code == Code.INTERNAL
    assert [o.accepted for n in [behind, *neighbours] if (o := bench.outcome(n))] == [True] * 3
    assert bench.state(1).ply == 0
    assert attempts_counted(bench.store, 1) == {}


def test_what_waits_behind_a_failing_command_keeps_its_place(bench: Bench) -> None:
    bench.start(1)
    first = bench.send(ALICE, PlayMove(text="m13-j7"))
    second = bench.send(BOB, PlayMove(text="a13-c11"))
    assert bench.drain(decider=failing(raises, TRIES)) == 2
    assert [o.accepted for n in (first, second) if (o := bench.outcome(n))] == [True, True]
    assert bench.state().moves == "m13-j7 a13-c11"


def test_commands_a_dead_drain_left_are_worked_one_by_one_and_none_is_lost(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    bench.start(1, 2)
    orders = [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in (1, 2)]
    assert bench.lanes.acquire(LANE, "a drain that is killed") is LeaseResult.ACQUIRED
    bench.queue.delete(keys.lease(LANE))
    with caplog.at_level(logging.WARNING):
        assert bench.drain() == 2
    assert "commands now worked one by one: 2" in caplog.text
    assert all(bench.outcome(order) for order in orders)
    assert not bench.queue.exists(keys.lease_mark(LANE))


def test_a_command_that_killed_three_drains_is_refused(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    (entry,) = bench.store.read_inbox(range(4), 10)
    for _ in range(TRIES):
        bench.store.count_attempt(entry.shard, entry.id)
    bench.queue.set(keys.lease_mark(LANE), "a drain that is killed")
    assert bench.drain() == 1
    outcome = bench.outcome(order)
    assert outcome is not None
    assert outcome.code == Code.INTERNAL


def test_a_repetition_of_a_refused_suspect_is_answered_and_not_tried_again(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    for _ in range(3):  # its sender heard nothing, and repeats it
        bench.submit(order)
    behind = bench.send(ALICE, PlayMove(text="m13-j7"))
    tried = []

    def decider(
        sent: CommandEnvelope, state: MatchState, given: DecisionContext
    ) -> Decision | Rejection:
        if sent.id == order.id:
            tried.append(sent.id)
            raises()
        return decide(sent, state, given)

    bench.drain(decider=decider)
    outcome = bench.outcome(order)
    assert outcome is not None
    assert outcome.code == Code.INTERNAL
    assert len(tried) == 1 + TRIES
    assert bench.state().moves == "m13-j7"
    assert bench.outcome(behind)
    assert bench.store.inbox_size(range(4)) == 0


class Broken(RedisStore):
    """A store whose server goes away in every commit."""

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        raise RedisConnectionError(f"gone, with {len(writes)} to write")


def test_a_server_that_fails_in_the_commit_is_not_the_commands_fault(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    for _ in range(2 * TRIES):
        store = Broken(bench.client, Mode.FSYNC)
        with pytest.raises(RedisConnectionError):
            Drain(store, bench.lanes, bench.queue, LANE, data=bench.client).run()
        assert bench.queue.exists(keys.lease_mark(LANE))
        bench.queue.delete(keys.lease(LANE))
    bench.drain()
    outcome = bench.outcome(order)
    assert outcome is not None
    assert outcome.accepted


def test_a_start_waits_while_the_node_of_its_players_is_away(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise RedisConnectionError("a node is away")

    bench.start(1)
    start = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB))
    waits, fine = bench.send(ALICE, start, 2), bench.send(ALICE, PlayMove(text="m13-m9"), 1)
    monkeypatch.setattr(handle, "on_vacation", away)
    for _ in range(TRIES + 2):
        bench.drain()
    assert bench.outcome(waits) is None, "it is not refused for what is not its fault"
    assert bench.outcome(fine) is not None
    assert attempts_counted(bench.store, 2) == {}
    monkeypatch.undo()
    bench.drain()
    outcome = bench.outcome(waits)
    assert outcome is not None
    assert outcome.accepted
