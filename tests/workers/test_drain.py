"""The drain on a real server: its batches, those that wait for outcomes, and what it can not read, decide or commit. `tests/model` plays by chance."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from rq.timeouts import JobTimeoutException

from domain.aggregates import Decider
from domain.errors import Code
from domain.match.audit import verify
from domain.match.commands import CommandEnvelope, MakeOffer, PlayMove, ResignMatch, StartMatch
from domain.match.decide import decide
from domain.match.decision import Decision, Rejection
from domain.match.events import OfferMade
from domain.match.history import EVENT_LIMIT
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.channels import MATCH_NEWS, read_news
from infra.store.port import (
    CommitConflict,
    CommitResult,
    CommitUnderWay,
    Submission,
    Write,
)
from infra.store.redis_store import RedisStore
from tests.helpers.bench import Bench
from tests.helpers.doctor import value
from tests.helpers.gateways import OutcomeListener
from tests.helpers.given import ALICE, BOB, CAROL
from tests.helpers.lanes import LANE
from tests.helpers.writes import CommitsInOne, attempts_counted
from workers.commands import handle
from workers.commands.drain import CHUNK, SMALL_BACKLOG, SMALL_BATCH, TRIES, Drain
from workers.commands.handle import CommandHandler, StartContexts, Task


def test_each_channel_gets_the_outcomes_of_its_own_commands(bench):
    bench.start(1)
    channels = "reply:web", "reply:mail"
    listeners = [OutcomeListener(bench.queue, one) for one in channels]
    sent = bench.order(ALICE, PlayMove(text="m13-m9")), bench.order(CAROL, ResignMatch())
    for order, channel in zip(sent, channels, strict=True):
        bench.submit(order, channel)
    bench.drain()
    for order, listener in zip(sent, listeners, strict=True):
        assert [id_ for id_, _ in listener.poll(5)] == [order.id]
        listener.close()


def test_the_matches_that_a_batch_changes_are_published_together_with_their_last_events(bench):
    bench.start(1, 2)
    subscribed: Any = bench.queue.pubsub()
    subscribed.subscribe(MATCH_NEWS)
    subscribed.get_message(timeout=60)
    bench.send(ALICE, PlayMove(text="m13-m9"), 1)
    bench.send(BOB, PlayMove(text="a13-c11"), 1)
    bench.send(BOB, PlayMove(text="a1-a5"), 2)
    bench.drain()
    bench.send(ALICE, ResignMatch(), 2)
    bench.drain()
    heard = [subscribed.get_message(timeout=60) for _ in range(2)]
    assert [read_news(one["data"]) for one in heard] == [{1: 3}, {2: 3}]
    assert subscribed.get_message(timeout=0) is None
    subscribed.close()


def one_after_the_other(bench: Bench, *steps: Callable[[], object]) -> int:
    """Let a drain run that does the steps between its batches; return the number of outcomes."""
    left = list(steps)

    def next_step() -> bool:
        if left:
            left.pop(0)()
        return False

    return bench.drain(next_step)


def test_a_small_batch_takes_the_first_command_of_each_account_first(bench):
    boards = range(1, 1 + SMALL_BACKLOG - 4)
    bench.start(*boards, 100)
    flood = [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in boards]
    neighbour = bench.send(CAROL, ResignMatch(), 100)
    assert bench.drain(stopping=lambda: True) == SMALL_BATCH
    assert bench.outcome(neighbour) is not None
    assert [bench.outcome(order) is not None for order in flood].count(True) == SMALL_BATCH - 1


def test_the_commands_of_a_match_keep_their_order_among_the_accounts(bench):
    boards = range(1, 21)
    bench.start(*boards)
    for board in boards:
        bench.send(ALICE, PlayMove(text="m13-m9"), board)
    answer = bench.send(BOB, PlayMove(text="a13-c11"), 20)
    while bench.store.inbox_size(range(4)):
        bench.drain()
    assert bench.outcome(answer).accepted


MATCHES = CHUNK + 20


class Watched(RedisStore):
    """A store that keeps the results of all commits, and does something before one of them."""

    def __init__(self, client: Redis) -> None:
        super().__init__(client, Mode.FSYNC)
        self.begun = 0
        self.results: list[list[CommitResult]] = []

    def before(self, number: int) -> None:
        """Do something before commit `number`, counted from 0."""

    def begin_commit(self, writes: Sequence[Write]) -> CommitUnderWay:
        self.before(self.begun)
        self.begun += 1
        committed = super().begin_commit(writes)

        def results() -> list[CommitResult]:
            self.results.append(committed())
            return self.results[-1]

        return results


@pytest.fixture
def store(bench: Bench) -> Watched:
    """The store of the bench, after all matches have begun."""
    bench.start(*range(1, MATCHES + 1))
    watched = Watched(bench.client)
    bench.store = watched
    return watched


def send_moves(bench: Bench) -> list[CommandEnvelope]:
    """Send the first move of each match."""
    return [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in range(1, MATCHES + 1)]


def test_a_chunk_is_decided_while_the_one_before_is_committed(bench, store):
    orders = send_moves(bench)
    seen: list[tuple[int, int]] = []

    def looking(sent: CommandEnvelope, *given: Any) -> Decision | Rejection:
        seen.append((store.begun, len(store.results)))
        return decide(sent, *given)

    assert bench.drain(decider=looking) == MATCHES
    assert seen == [(0, 0)] * CHUNK + [(1, 0)] * (MATCHES - CHUNK)
    assert [len(results) for results in store.results] == [CHUNK, MATCHES - CHUNK]
    outcomes = [bench.outcome(order) for order in orders]
    assert [one.accepted for one in outcomes if one] == [True] * MATCHES


@pytest.mark.usefixtures("store")
def test_an_error_while_a_chunk_is_committed_leaves_no_connection_behind(bench):
    orders = send_moves(bench)
    decided: list[bytes] = []

    def failing_later(sent: CommandEnvelope, *given: Any) -> Decision | Rejection:
        decided.append(sent.id)
        if len(decided) > CHUNK:
            raise JobTimeoutException
        return decide(sent, *given)

    pool: Any = bench.client.connection_pool
    in_use = len(pool._in_use_connections)
    with pytest.raises(JobTimeoutException):
        bench.drain(decider=failing_later)
    assert len(pool._in_use_connections) == in_use
    assert [bench.outcome(order) is not None for order in orders].count(True) == CHUNK
    assert bench.store.inbox_size(range(4)) == MATCHES - CHUNK


def test_what_was_decided_on_a_commit_that_did_not_apply_is_decided_again(
    bench, store, monkeypatch
):
    # the match's commands are in two chunks, behind those of the shard before
    for _ in range(CHUNK - 20):
        bench.send(BOB, MakeOffer(kind="draw"), 4)
    orders = [bench.send(ALICE, PlayMove(text="m13-m9"), 5)]
    orders += [bench.send(BOB, MakeOffer(kind="draw"), 5) for _ in range(50)]
    other = RedisStore(bench.client, Mode.FSYNC)

    def overtake(number: int) -> None:
        if number == 0:
            orders.append(bench.send(ALICE, MakeOffer(kind="draw"), 5))
            task = Task(other.read_inbox([1], MATCHES)[-1], orders[-1])
            handler = CommandHandler(other, StartContexts(None, bench.client), decide)
            handler.load({5})
            write = handler.handle(task)
            assert isinstance(write, Write)
            other.commit([write])

    monkeypatch.setattr(store, "before", overtake)
    assert bench.drain() == CHUNK - 20 + 51
    first, second, *later = store.results
    assert [isinstance(one, CommitConflict) for one in first] == [False] * (CHUNK - 20) + [
        True
    ] * 20
    assert [isinstance(one, CommitConflict) for one in second] == [True] * 31
    assert not any(isinstance(one, CommitConflict) for results in later for one in results)
    assert all(bench.outcome(order) for order in orders)
    assert verify(5, store.events(5)).state == bench.state(5)
    assert store.inbox_size(range(4)) == 0


def test_a_commit_that_fails_ends_the_drain_before_anything_later_is_written(
    bench, store, monkeypatch
):
    orders = send_moves(bench)

    def fail(_: int) -> None:
        raise RedisConnectionError("gone")

    monkeypatch.setattr(store, "before", fail)
    with pytest.raises(RedisConnectionError):
        bench.drain()
    assert store.results == []
    assert not any(bench.outcome(order) for order in orders)
    assert bench.store.inbox_size(range(4)) == MATCHES


def test_an_entry_that_can_not_be_decoded_is_set_aside_with_an_alarm(bench, caplog):
    bench.start(1)
    bench.store.submit([Submission(1, b"i" * 16, b"digest..", b"garbage", ALICE, 0, "reply:1")])
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    with caplog.at_level(logging.ERROR):
        assert bench.drain() == 1
    assert "ALARM" in caplog.text
    assert bench.client.xlen(keys.dead_letters(1)) == 1
    assert bench.outcome(order) is not None


def test_an_event_that_can_not_be_sealed_costs_its_own_match_only(bench):
    bench.start(1, 2)

    def too_much(order: CommandEnvelope, *given: Any) -> Decision | Rejection:
        if order.match == 1:
            return Decision((OfferMade(seat=0, kind="x" * EVENT_LIMIT),))
        return decide(order, *given)

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

    def decider(order: CommandEnvelope, *given: Any) -> Decision | Rejection:
        if order.command == PlayMove(text="m13-j7") and next(failures, None) is not None:
            way()
        return decide(order, *given)

    return decider


@pytest.mark.parametrize(
    "way", [raises, pytest.param(loops, marks=pytest.mark.long), recurses, allocates]
)
@pytest.mark.usefixtures("cpu_limit")
def test_a_game_that_fails_costs_its_own_match_only(bench, way):
    bench.start(1, 2, 5)
    poison = bench.send(ALICE, PlayMove(text="m13-j7"), 1)
    behind = bench.send(ALICE, MakeOffer(kind="draw"), 1)
    neighbours = [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in (2, 5)]
    decider, done = failing(way), 0
    # on a busy machine a drain's turn may end before it has used its seconds of CPU time
    while bench.store.inbox_size(range(4)):
        done += bench.drain(decider=decider)
    assert done == 4
    assert bench.outcome(poison).code == Code.INTERNAL
    assert [o.accepted for n in [behind, *neighbours] if (o := bench.outcome(n))] == [True] * 3
    assert bench.state(1).ply == 0
    assert attempts_counted(bench.store, 1) == {}


class Broken(CommitsInOne):
    """A store whose server goes away in every commit."""

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        raise RedisConnectionError(f"gone, with {len(writes)} to write")


def test_a_server_that_fails_in_the_commit_is_not_the_commands_fault(bench):
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    for _ in range(2 * TRIES):
        store = Broken(bench.client, Mode.FSYNC)
        with pytest.raises(RedisConnectionError):
            Drain(store, bench.lanes, bench.queue, LANE, data=bench.client).run()
        assert bench.queue.exists(keys.lease_mark(LANE))
        bench.queue.delete(keys.lease(LANE))
    bench.drain()
    assert bench.outcome(order).accepted


def test_a_start_waits_while_the_node_of_its_players_is_away(bench, monkeypatch):
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
    assert bench.outcome(waits).accepted


ACCEPTED = "matchpost_commands_accepted_total"


REFUSED = "matchpost_commands_refused_total"


def test_a_command_is_counted_once_by_its_kind_or_by_the_code_of_its_refusal(bench):
    starts, moves = (value(ACCEPTED, command=kind) for kind in ("start", "move"))
    early, illegal = (value(REFUSED, code=code) for code in ("not-your-turn", "unreadable-move"))
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.send(ALICE, PlayMove(text="a1-a5"))
    bench.send(BOB, PlayMove(text="nonsense"))
    bench.drain()
    bench.submit(order)  # sent again, it has its outcome
    bench.drain()
    assert value(ACCEPTED, command="start") == starts + 1
    assert value(ACCEPTED, command="move") == moves + 1
    assert value(REFUSED, code="not-your-turn") == early + 1
    assert value(REFUSED, code="unreadable-move") == illegal + 1


@pytest.mark.parametrize("damage", ["snapshot", "moves", "conditional moves"])
def test_what_can_not_be_read_of_a_match_costs_that_match_only(bench, caplog, damage):
    boards = (1, 2, 5)
    bench.start(*boards)
    for board in boards:
        bench.send(ALICE, PlayMove(text="m13-m9"), board)
    bench.drain()
    match damage:
        case "snapshot":
            name = keys.snapshot(1, 1)
            bench.client.set(name, bench.client.getrange(name, 0, 31) + b"\xc1")
        case "moves":
            bench.client.delete(keys.moves(1, 1))
        case _:
            bench.client.set(keys.conditional_moves(1, 1), b"\xc1")
    orders = [bench.send(BOB, PlayMove(text="a13-a9"), board) for board in boards]
    # it is not taken for a new match later
    later = one_after_the_other(bench, lambda: orders.append(bench.send(ALICE, ResignMatch())))
    assert later == 4
    codes = [bench.outcome(order).code for order in orders]
    assert codes == [Code.INTERNAL, "", "", Code.INTERNAL]
    if damage != "conditional moves":
        assert "ALARM: the snapshot of match 1 can't be read" in caplog.text


def test_a_match_that_goes_on_is_read_once_in_a_drain(bench):
    bench.start(1)
    looked: list[int] = []

    class Watched(RedisStore):
        def snapshots_with_conditional_moves(
            self, boards: Sequence[int]
        ) -> list[tuple[bytes | None, bytes]]:
            looked.extend(boards)
            return super().snapshots_with_conditional_moves(boards)

    bench.store = Watched(bench.client, Mode.FSYNC)
    bench.send(ALICE, PlayMove(text="m13-m9"))
    done = one_after_the_other(
        bench,
        lambda: bench.send(ALICE, PlayMove(text="m9-m13")),
        lambda: bench.send(BOB, PlayMove(text="a13-a9")),
    )
    assert (done, looked) == (3, [1])
    assert bench.state().moves == "m13-m9 a13-a9"
    assert verify(1, bench.store.events(1)).state == bench.state()
