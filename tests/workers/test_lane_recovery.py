"""What follows a drain that was cut off: only what it had read is suspected, and nobody waits long."""

from collections.abc import Sequence

import msgspec
import pytest
from redis import Redis
from rq.timeouts import JobTimeoutException

from domain.match.commands import CommandEnvelope, PlayMove
from domain.match.decide import decide
from domain.match.decision import Decision, DecisionContext, Rejection
from domain.match.state import MatchState
from infra.durability.durability import Mode
from infra.redis import keys
from infra.store.leases import REQUESTED, LeaseResult
from infra.store.port import CommitResult, Write
from infra.store.redis_store import RedisStore
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE
from tests.helpers.lanes import LANE
from tests.helpers.steps import Killed
from tests.helpers.writes import attempts_counted
from workers.commands.drain import CHUNK, SMALL_BATCH, SUSPECTS

MANY = 500


class Counting(RedisStore):
    """A store that keeps how many commands each commit had."""

    def __init__(self, client: Redis) -> None:
        super().__init__(client, Mode.FSYNC)
        self.commits: list[int] = []

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        self.commits.append(len(writes))
        return super().commit(writes)


@pytest.fixture
def store(bench: Bench) -> Counting:
    """The store of the bench, from now on."""
    counting = Counting(bench.client)
    bench.store = counting
    return counting


def cut_off(bench: Bench) -> None:
    """Leave the lane as a drain does that is killed."""
    assert bench.lanes.acquire(LANE, "a drain that is killed") is LeaseResult.ACQUIRED
    bench.queue.delete(keys.lease(LANE))


def send_many(bench: Bench, boards: int = MANY) -> list[CommandEnvelope]:
    """Send a move in each of so many matches that have not begun: each is refused."""
    return [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in range(1, boards + 1)]


def in_chunks(commands: int) -> list[int]:
    """How many commands each commit of a large batch has."""
    whole, rest = divmod(commands, CHUNK)
    return [CHUNK] * whole + [rest]


def test_a_drain_that_is_told_to_stop_leaves_after_one_suspect(
    bench: Bench, store: Counting
) -> None:
    send_many(bench)
    cut_off(bench)
    assert bench.drain(stopping=lambda: True) == 1
    assert store.commits == [1]
    assert bench.woken == [LANE]
    assert bench.queue.get(keys.lease(LANE)) == REQUESTED.encode()


def test_only_what_the_dead_drain_can_have_read_is_worked_one_by_one(
    bench: Bench, store: Counting
) -> None:
    send_many(bench)
    cut_off(bench)
    assert bench.drain() == MANY
    rest = [1] * (SMALL_BATCH - SUSPECTS)
    assert store.commits == [1] * SUSPECTS + in_chunks(MANY - SMALL_BATCH) + rest
    assert not bench.queue.exists(keys.lease_mark(LANE))


def test_suspects_that_are_left_are_suspects_of_the_next_drain(
    bench: Bench, store: Counting
) -> None:
    send_many(bench)
    cut_off(bench)
    bench.drain(stopping=lambda: True)
    store.commits.clear()
    assert bench.drain() == MANY - 1
    rest = [1] * (SMALL_BATCH - SUSPECTS - 1)
    assert store.commits == [1] * SUSPECTS + in_chunks(MANY - SMALL_BATCH) + rest
    store.commits.clear()
    send_many(bench, SMALL_BATCH)
    bench.drain()
    assert store.commits == [SMALL_BATCH]


def test_an_id_that_is_used_again_in_another_match_overtakes_nothing_there(bench: Bench) -> None:
    suspected = send_many(bench)[2]
    # of a shard that is read before that of the suspect
    board = MANY + 4
    earlier = bench.send(ALICE, PlayMove(text="m13-m9"), board)
    later = msgspec.structs.replace(suspected, match=board)
    bench.submit(later)
    cut_off(bench)
    bench.drain()
    first, second = bench.outcome(earlier), bench.outcome(later)
    assert first is not None
    assert second is not None
    assert first.index < second.index


def kills(poison: CommandEnvelope):
    """Decide as the rules do, but be killed by one command."""

    def decider(
        sent: CommandEnvelope, state: MatchState, context: DecisionContext
    ) -> Decision | Rejection:
        if sent.id == poison.id:
            raise SystemExit
        return decide(sent, state, context)

    return decider


def test_a_command_in_a_large_batch_that_kills_is_found_and_its_batch_suspected(
    bench: Bench, store: Counting
) -> None:
    orders = send_many(bench, 100)
    with pytest.raises(SystemExit):
        bench.drain(decider=kills(orders[60]))
    bench.queue.delete(keys.lease(LANE))
    later = [bench.send(ALICE, PlayMove(text="m13-m9"), board) for board in range(200, 210)]
    while bench.store.inbox_size(range(4)):
        bench.drain()
    # what came later is worked after the first suspects, and not one by one
    assert store.commits == [1] * SUSPECTS + [len(later)] + [1] * (100 - SUSPECTS)


def test_a_command_that_kills_again_and_again_is_refused_and_the_others_are_decided(
    bench: Bench,
) -> None:
    bench.start(*range(1, 101))
    orders = send_many(bench, 100)
    poison, deaths = orders[60], 0
    while bench.store.inbox_size(range(4)):
        try:
            bench.drain(decider=kills(poison))
        except SystemExit:
            deaths += 1
            bench.queue.delete(keys.lease(LANE))
    outcomes = [outcome for order in orders if (outcome := bench.outcome(order))]
    assert [o.accepted for o in outcomes] == [True] * 60 + [False] + [True] * 39
    assert deaths == 4


def test_the_end_of_a_job_by_rq_is_not_the_commands_failure(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))

    def out_of_time(
        sent: CommandEnvelope, state: MatchState, context: DecisionContext
    ) -> Decision | Rejection:
        del sent, state, context
        raise JobTimeoutException

    with pytest.raises(JobTimeoutException):
        bench.drain(decider=out_of_time)
    assert attempts_counted(bench.store, 1) == {}
    assert bench.outcome(order) is None


def test_a_lease_that_is_lost_among_suspects_ends_the_drain(bench: Bench, store: Counting) -> None:
    send_many(bench, 3)
    cut_off(bench)

    class Overtaken(Counting):
        def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
            bench.queue.set(keys.lease(LANE), "another", px=1_000)
            return super().commit(writes)

    bench.store = Overtaken(bench.client)
    assert bench.drain() == 1
    assert store.inbox_size(range(4)) == 2
    assert bench.woken == []


def test_a_killed_drain_is_no_exception_that_the_drain_swallows(bench: Bench) -> None:
    bench.start(1)
    bench.send(ALICE, PlayMove(text="m13-m9"))

    class Dying(RedisStore):
        def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
            raise Killed(len(writes))

    bench.store = Dying(bench.client, Mode.FSYNC)
    with pytest.raises(Killed):
        bench.drain()
    assert bench.queue.exists(keys.lease_mark(LANE))
