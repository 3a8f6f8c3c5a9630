"""Lanes and their leases: one drain at a time, none that is missed, and what follows one that was cut off."""

import asyncio
import time
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any

import pytest
from redis import Redis
from rq.timeouts import JobTimeoutException

from domain.match.audit import verify
from domain.match.commands import CommandEnvelope, PlayMove, StartMatch
from domain.match.decide import decide
from infra.durability.durability import Mode
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.redis.keys import Lane
from infra.redis.rq_jobs import queue_key
from infra.store import async_gateway
from infra.store.async_gateway import AsyncCommandGateway, AsyncStore
from infra.store.gateway import submission_of
from infra.store.layout import LAYOUT_SECONDS, Layout
from infra.store.leases import LEASE_MS, REQUESTED, AsyncLaneLeases, LaneLeases, LeaseResult
from infra.store.port import CommitResult, Write
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import LeasedJob, WakeupJob, enqueue_drain, request_jobs
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB, sent
from tests.helpers.lanes import LANE
from tests.helpers.served import Served, all_play, matches, until
from tests.helpers.writes import CommitsInOne, attempts_counted
from workers.commands.drain import CHUNK, SMALL_BATCH, SUSPECTS, Drain
from workers.scheduler import Scheduler


class Slow(LaneLeases):
    """Lanes that let something happen just before a drain leaves."""

    happens: Callable[[], None]

    def release(self, lane: Lane, token: str, mark: bytes = b"") -> bool:
        self.happens()
        return super().release(lane, token, mark)


def test_what_comes_while_a_drain_leaves_wakes_the_next(bench):
    bench.start(1)

    def late() -> None:
        bench.send(ALICE, PlayMove(text="m13-m9"))
        # its sender sees the lease and asks for nobody
        assert not bench.lanes.request(LANE)

    lanes = Slow(bench.queue, bench.woken.append)
    lanes.happens = late
    Drain(bench.store, lanes, bench.queue, LANE, data=bench.client).run()
    assert bench.woken == [LANE]


def test_a_wake_up_is_sent_once_until_a_drain_has_come(bench):
    assert [bench.lanes.request(LANE) for _ in range(3)] == [True, False, False]
    assert bench.woken == [LANE]
    assert bench.lanes.acquire(LANE, "a") is LeaseResult.ACQUIRED


def test_a_lease_lasts_its_time_and_is_renewed_by_its_holder_only(bench):
    bench.lanes.acquire(LANE, "a")
    assert 0 < bench.queue.pttl(keys.lease(LANE)) <= LEASE_MS
    assert bench.lanes.acquire(LANE, "b") is LeaseResult.BUSY
    bench.queue.pexpire(keys.lease(LANE), LEASE_MS // 10)
    assert bench.lanes.renew(LANE, "a")
    assert LEASE_MS // 2 < bench.queue.pttl(keys.lease(LANE)) <= LEASE_MS
    assert not bench.lanes.renew(LANE, "b")
    assert not bench.lanes.release(LANE, "b")
    assert bench.lanes.release(LANE, "a")
    assert bench.lanes.acquire(LANE, "b") is LeaseResult.ACQUIRED


def test_the_keeper_wakes_a_lane_where_commands_wait_and_no_drain_runs(bench):
    keeper = Scheduler(bench.store, bench.lanes)
    keeper.tick()
    assert bench.woken == []
    bench.send(ALICE, PlayMove(text="m13-m9"))
    keeper.tick()
    keeper.tick()
    assert bench.woken == [LANE]
    bench.drain()
    keeper.tick()
    assert bench.woken == [LANE]


def test_a_drain_that_lingers_is_woken_by_the_next_command(bench, valkey, wait_until):
    bench.start(1)
    order = bench.order(ALICE, PlayMove(text="m13-m9"))
    done: list[int] = []

    def drain() -> None:
        with valkey.client(blocking_timeout=5) as client:
            lanes = LaneLeases(client, bench.woken.append)
            # it would wait an hour for the command, unless it is woken
            drain = Drain(
                RedisStore(bench.client, Mode.FSYNC),
                lanes,
                client,
                LANE,
                lambda: bench.outcome(order) is not None,
                linger=3600,
                data=bench.client,
            )
            done.append(drain.run())

    thread = Thread(target=drain)
    thread.start()
    # before it waits it would find the command by itself, and be gone when it is asked for
    wait_until(lambda: bench.queue.info("clients")["blocked_clients"] == 1)
    bench.submit(order)
    assert not bench.lanes.request(LANE)
    thread.join()
    assert done == [1]
    assert bench.woken == []


def test_a_holder_is_woken_once_however_many_ask(bench):
    bench.lanes.acquire(LANE, "a")
    for _ in range(3):
        assert not bench.lanes.request(LANE)
    assert bench.queue.llen(keys.wakeups(LANE)) == 1
    with bench.lanes.waiting(LANE, 5) as is_woken:
        assert is_woken(5)
        assert not is_woken(0.01)
    assert not bench.queue.exists(keys.wakeups(LANE))


def test_a_drain_does_not_linger_while_another_job_waits_for_a_worker(bench):
    enqueue_drain(bench.queue, LANE)
    bench.start(1)
    bench.queue.config_resetstat()
    Drain(bench.store, bench.lanes, bench.queue, LANE, data=bench.client, linger=3600).run()
    assert "cmdstat_blpop" not in bench.queue.info("commandstats")


def test_a_drain_that_lingers_looks_for_other_jobs_however_rarely_its_server_turns(bench, valkey):
    with valkey.client() as client:
        client.config_set("hz", 1)
        lanes = LaneLeases(client, bench.woken.append)
        with lanes.waiting(LANE, 3600) as is_woken:
            began = time.monotonic()
            for _ in range(3):
                assert not is_woken(0.05)
                assert not lanes.others_wait()
            assert time.monotonic() - began < 0.9
            enqueue_drain(client, LANE)
            assert lanes.others_wait()
        # the wait is over on the server, too, so that it takes no wake-up of another run
        lanes.acquire(LANE, "another")
        lanes.request(LANE)
        with lanes.waiting(LANE, 5) as is_woken:
            assert is_woken(5)


def test_runs_of_several_jobs_are_requested_in_one_round_trip(bench):
    jobs = [
        LeasedJob(WakeupJob(name, name, 600, name), name, 10_000) for name in ("first", "second")
    ]
    request_jobs(bench.queue, jobs)  # scripts are known from now on
    assert [bench.queue.llen(queue_key(name)) for name in ("first", "second")] == [1, 1]
    for name in ("first", "second"):
        bench.queue.set(keys.lease(name), "a run", px=10_000)
    reads = bench.queue.info("stats")["total_reads_processed"]
    request_jobs(bench.queue, jobs)
    assert bench.queue.info("stats")["total_reads_processed"] == reads + 2, "one is this look"
    assert [bench.queue.llen(keys.wakeups(name)) for name in ("first", "second")] == [1, 1]
    assert [bench.queue.llen(queue_key(name)) for name in ("first", "second")] == [1, 1]


HOURS_MS = 3_600_000


def ahead(bench: Bench, key: str) -> None:
    """Have a key live as long as one does that was set before the clock went back."""
    assert bench.queue.pexpireat(key, bench.store.now() + HOURS_MS)


def test_a_lease_with_more_time_left_than_it_can_have_is_taken_over(bench):
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.lanes.acquire(LANE, "killed")
    ahead(bench, keys.lease(LANE))
    assert bench.lanes.acquire(LANE, "next") is LeaseResult.EXPIRED
    assert 0 < bench.queue.pttl(keys.lease(LANE)) <= LEASE_MS
    assert bench.lanes.acquire(LANE, "third") is LeaseResult.BUSY
    bench.lanes.release(LANE, "next")
    assert bench.drain() == 1
    assert bench.outcome(order) is not None


def test_a_drain_is_asked_for_though_a_lease_seems_to_last(bench):
    for holder in ("killed", "wanted"):
        bench.queue.set(keys.lease(LANE), holder, px=1)
        bench.queue.set(keys.lease(LANE), holder, px=HOURS_MS)
        assert bench.lanes.request(LANE)
        assert not bench.lanes.request(LANE)


MANY = 500


class Counting(CommitsInOne):
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


def test_only_what_the_dead_drain_can_have_read_is_worked_one_by_one(bench, store):
    send_many(bench)
    cut_off(bench)
    assert bench.drain() == MANY
    rest = [1] * (SMALL_BATCH - SUSPECTS)
    assert store.commits == [1] * SUSPECTS + in_chunks(MANY - SMALL_BATCH) + rest
    assert not bench.queue.exists(keys.lease_mark(LANE))


def test_suspects_that_are_left_are_suspects_of_the_next_drain(bench, store):
    send_many(bench)
    cut_off(bench)
    assert bench.drain(stopping=lambda: True) == 1, "it has to stop"
    assert store.commits == [1]
    assert bench.woken == [LANE]
    assert bench.queue.get(keys.lease(LANE)) == REQUESTED.encode()
    store.commits.clear()
    assert bench.drain() == MANY - 1
    rest = [1] * (SMALL_BATCH - SUSPECTS - 1)
    assert store.commits == [1] * SUSPECTS + in_chunks(MANY - SMALL_BATCH) + rest
    store.commits.clear()
    send_many(bench, SMALL_BATCH)
    bench.drain()
    assert store.commits == [SMALL_BATCH]


def test_a_command_that_kills_again_and_again_is_refused_and_the_others_are_decided(bench):
    bench.start(*range(1, 21))
    orders = send_many(bench, 20)
    poison, deaths = orders[12], 0

    def dies(sent: CommandEnvelope, *given: Any) -> Any:
        if sent.id == poison.id:
            raise SystemExit
        return decide(sent, *given)

    while bench.store.inbox_size(range(4)):
        try:
            bench.drain(decider=dies)
        except SystemExit:
            deaths += 1
            bench.queue.delete(keys.lease(LANE))
    outcomes = [outcome for order in orders if (outcome := bench.outcome(order))]
    assert [one.accepted for one in outcomes] == [True] * 12 + [False] + [True] * 7
    assert deaths == 4


def test_the_end_of_a_job_by_rq_is_not_the_commands_failure(bench):
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))

    def out_of_time(*_: object) -> Any:
        raise JobTimeoutException

    with pytest.raises(JobTimeoutException):
        bench.drain(decider=out_of_time)
    assert attempts_counted(bench.store, 1) == {}
    assert bench.outcome(order) is None


def test_a_lease_that_is_lost_among_suspects_ends_the_drain(bench, store):
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


START = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB))


@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 3), (8, 5)])
@pytest.mark.parametrize("knows", ["the worker", "the gateway"])
def test_who_knows_the_lanes_before_still_has_all_shards_drained(
    redis_client, knows, before, after
):
    old = RedisStore(redis_client, Mode.FSYNC)
    old.create(Layout(shards=8, lanes=before))
    new = RedisStore(redis_client, Mode.FSYNC)
    new.change_lanes(after)
    worker, gateway = (old, new) if knows == "the worker" else (new, old)
    requested: list[Lane] = []
    lanes = LaneLeases(redis_client, requested.append)
    for board in range(1, 9):
        order = sent(ALICE, START, board, board)
        gateway.submit([submission_of(order, 0, "reply:test")])
        if knows == "the worker":
            Scheduler(RedisStore(redis_client, Mode.FSYNC), lanes).tick()
        else:
            lanes.request(Layout(8, before).lane_of(board))
        while requested:
            Drain(worker, lanes, redis_client, requested.pop()).run()
        assert gateway.outcome(board, order.id)


def test_a_scheduler_learns_of_the_lanes_without_a_restart(redis_client, monkeypatch):
    store = RedisStore(redis_client, Mode.FSYNC)
    store.create(Layout(shards=8, lanes=1))
    requested: list[Lane] = []
    scheduler = Scheduler(store, LaneLeases(redis_client, requested.append))
    scheduler.tick()
    RedisStore(redis_client, Mode.FSYNC).change_lanes(8)
    later = time.monotonic() + LAYOUT_SECONDS
    monkeypatch.setattr(time, "monotonic", lambda: later)
    store.submit([submission_of(sent(ALICE, START, 1, 5), 0, "reply:test")])
    scheduler.tick()
    assert requested == [Layout(8, 8).lane_of(5)]


def test_a_web_process_learns_of_the_lanes_without_a_restart(redis_client, valkey, monkeypatch):
    monkeypatch.setattr(async_gateway, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(async_gateway, "REST_SECONDS", 60.0)  # of a server in use
    writer = RedisStore(redis_client, Mode.FSYNC)
    layout = writer.create(Layout(shards=8, lanes=1))

    async def change() -> None:
        async with make_async_client(valkey.url) as client, AutoPipeline(client) as pipe:
            store = AsyncStore(pipe, layout, 100)
            lanes = AsyncLaneLeases(pipe, lambda _: None)
            async with AsyncCommandGateway(store, lanes, client):
                assert store.lane_of(5) == Layout(8, 1).lane_of(5)
                await asyncio.to_thread(writer.change_lanes, 8)
                now = Layout(8, 8).lane_of(5)
                await asyncio.to_thread(until, lambda: store.lane_of(5) == now)

    asyncio.run(asyncio.wait_for(change(), 30))


@pytest.mark.long
def test_lanes_changed_under_load_lose_nothing_and_stop_nobody(tmp_path):
    played = matches(8, 16)
    with Served(tmp_path / "data", {"MATCHPOST_WORKERS": "2"}) as served:
        assert served.run("lanes").stdout == "8 shards in 2 lanes\n"
        players, threads = all_play(served, played)
        for goal, lanes in zip((8, 30, 60, 90), (1, 8, 3, 2), strict=True):
            until(lambda goal=goal: sum(len(one.acknowledged) for one in players) > goal, 60)  # type: ignore[misc]
            changed = served.run("lanes", str(lanes))
            assert changed.stdout.startswith(f"8 shards in {lanes} "), changed.stderr
        for thread in threads:
            thread.join()
        with served.client() as client:
            store = RedisStore(client, Mode.FSYNC)
            for orders in played:
                verify(orders[0].match, store.events(orders[0].match))
                assert all(store.outcome(order.match, order.id) for order in orders)
            until(lambda: store.inbox_size(range(8)) == 0)


@pytest.mark.long
@pytest.mark.slow
def test_a_second_start_with_other_workers_takes_the_recorded_lanes(tmp_path):
    data = tmp_path / "data"
    with Served(data, {"MATCHPOST_WORKERS": "2"}) as served:
        assert served.run("lanes").stdout == "8 shards in 2 lanes\n"
        refused = served.run("lanes", "9")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "from 1 to 8" in refused.stderr
        assert served.run("lanes", "many").returncode == 2
    with Served(data, {"MATCHPOST_WORKERS": "3"}) as served:
        assert served.run("lanes").stdout == "8 shards in 2 lanes\n"
        until(lambda: len(served.children("matchpost worker")) == 3)
        log = (tmp_path / "serve.log").read_text()
        assert "3 command workers for 2 lanes: 1 is idle; `matchpost lanes 3` makes more" in log
