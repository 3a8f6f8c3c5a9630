"""A large batch is committed in chunks, and the next chunk is decided meanwhile."""

import threading
from collections.abc import Sequence

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from domain.match.audit import verify
from domain.match.commands import CommandEnvelope, MakeOffer, PlayMove
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.state import MatchState
from infra.durability.durability import Mode
from infra.store.port import CommitConflict, CommitResult, Write
from infra.store.redis_store import RedisStore
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from workers.commands.drain import CHUNK
from workers.commands.handle import CommandHandler, StartContexts, Task

MATCHES = CHUNK + 20


class Watched(RedisStore):
    """A store that keeps the results of all commits, and does something before one of them."""

    def __init__(self, client: Redis) -> None:
        super().__init__(client, Mode.FSYNC)
        self.results: list[list[CommitResult]] = []
        self.threads: list[threading.Thread] = []

    def before(self, number: int) -> None:
        """Do something before commit `number`, counted from 0."""

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        self.before(len(self.results))
        self.threads.append(threading.current_thread())
        self.results.append(super().commit(writes))
        return self.results[-1]


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


def test_a_chunk_is_decided_while_the_one_before_is_committed(
    bench: Bench, store: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = send_moves(bench)
    decided_beyond = threading.Event()
    decided: list[bytes] = []

    def wait(number: int) -> None:
        # if nothing were decided meanwhile, this would wait for itself
        assert number or decided_beyond.wait(60)

    def counting(
        sent: CommandEnvelope, state: MatchState, context: DecisionContext
    ) -> Decision | Rejection:
        decided.append(sent.id)
        if len(decided) > CHUNK:
            decided_beyond.set()
        return decide(sent, state, context)

    monkeypatch.setattr(store, "before", wait)
    assert bench.drain(decider=counting) == MATCHES
    assert [len(results) for results in store.results] == [CHUNK, MATCHES - CHUNK]
    outcomes = [bench.outcome(order) for order in orders]
    assert [one.accepted for one in outcomes if one] == [True] * MATCHES
    assert not store.threads[0].is_alive()


def test_a_small_batch_is_committed_by_the_drain_itself(bench: Bench, store: Watched) -> None:
    bench.send(ALICE, PlayMove(text="m13-m9"))
    assert bench.drain() == 1
    assert store.threads == [threading.current_thread()]


def test_what_was_decided_on_a_commit_that_did_not_apply_is_decided_again(
    bench: Bench, store: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    bench: Bench, store: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = send_moves(bench)

    def fail(_: int) -> None:
        raise RedisConnectionError("gone")

    monkeypatch.setattr(store, "before", fail)
    with pytest.raises(RedisConnectionError):
        bench.drain()
    assert store.results == []
    assert not any(bench.outcome(order) for order in orders)
    assert bench.store.inbox_size(range(4)) == MATCHES
