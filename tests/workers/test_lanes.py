"""Lanes and their leases on a real server: one drain at a time, and none that is missed."""

import asyncio
from collections.abc import Callable, Sequence
from threading import Thread

import pytest

from domain.match.commands import CommandEnvelope, PlayMove
from infra.durability.durability import Mode
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.redis.keys import Lane
from infra.store.leases import LEASE_MS, AsyncLaneLeases, LaneLeases, LeaseResult, Leases
from infra.store.port import CommitResult, InboxEntry, Write
from infra.store.redis_store import RedisStore
from infra.store.rq_wakeup import enqueue_drain
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.lanes import LANE
from workers.commands.drain import Drain
from workers.scheduler import Scheduler


def test_a_lane_has_one_drain_at_a_time(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.lanes.acquire(LANE, "another")
    assert bench.drain() == 0
    assert bench.outcome(order) is None
    bench.lanes.release(LANE, "another")
    assert bench.drain() == 1


class Between(RedisStore):
    """A store that lets something happen between deciding and committing."""

    happens: Callable[[], None]

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        self.happens()
        return super().commit(writes)


def test_a_drain_overtaken_between_deciding_and_committing_writes_nothing(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))

    def overtake() -> None:
        bench.queue.delete(keys.lease(LANE))
        assert bench.drain() == 1

    store = Between(bench.client, Mode.FSYNC)
    store.happens = overtake
    Drain(store, bench.lanes, bench.queue, LANE, data=bench.client).run()
    assert len(bench.store.events(1)) == 2
    assert bench.outcome(order) is not None


def test_a_stopping_drain_finishes_its_batch_and_asks_for_another(bench: Bench) -> None:
    bench.start(1)
    first = bench.send(ALICE, PlayMove(text="m13-m9"))
    late: list[CommandEnvelope] = []

    def stopping() -> bool:
        late.append(bench.send(BOB, PlayMove(text="a13-c11")))
        return True

    assert bench.drain(stopping) == 1
    assert bench.outcome(first) is not None
    assert bench.outcome(late[0]) is None
    assert bench.woken == [LANE]
    assert bench.drain() == 1


class Slow(LaneLeases):
    """Lanes that let something happen just before a drain leaves."""

    happens: Callable[[], None]

    def release(self, lane: Lane, token: str, mark: bytes = b"") -> bool:
        self.happens()
        return super().release(lane, token, mark)


def test_what_comes_while_a_drain_leaves_wakes_the_next(bench: Bench) -> None:
    bench.start(1)

    def late() -> None:
        bench.send(ALICE, PlayMove(text="m13-m9"))
        # its sender sees the lease and asks for nobody
        assert not bench.lanes.request(LANE)

    lanes = Slow(bench.queue, bench.woken.append)
    lanes.happens = late
    Drain(bench.store, lanes, bench.queue, LANE, data=bench.client).run()
    assert bench.woken == [LANE]


def test_a_wake_up_is_sent_once_until_a_drain_has_come(bench: Bench) -> None:
    assert [bench.lanes.request(LANE) for _ in range(3)] == [True, False, False]
    assert bench.woken == [LANE]
    assert bench.lanes.acquire(LANE, "a") is LeaseResult.ACQUIRED


def test_a_lease_lasts_its_time_and_is_renewed_by_its_holder_only(bench: Bench) -> None:
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


def test_a_lease_that_vanished_is_taken_back(bench: Bench) -> None:
    bench.lanes.acquire(LANE, "a")
    bench.queue.flushall()
    assert bench.lanes.renew(LANE, "a")
    assert bench.lanes.acquire(LANE, "b") is LeaseResult.BUSY


def test_the_keeper_wakes_a_lane_where_commands_wait_and_no_drain_runs(bench: Bench) -> None:
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


def test_drains_in_threads_of_their_own_decide_every_command_once(bench: Bench) -> None:
    bench.start(*range(1, 9))
    orders = [
        bench.send(ALICE, PlayMove(text=text), board)
        for board in range(1, 9)
        for text in ("m13-m9", "m13-j7")
    ]

    def run() -> None:
        bench.queue.delete(keys.lease(LANE))
        Drain(bench.store, bench.lanes, bench.queue, LANE, data=bench.client).run()

    # the limits are for the main thread: these drains decide without
    threads = [Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [bool(bench.outcome(order)) for order in orders] == [True] * len(orders)
    assert all(len(bench.store.events(board)) == 2 for board in range(1, 9))


def test_a_drain_that_lingers_is_woken_by_the_next_command(
    bench: Bench, valkey: EmbeddedServer, wait_until: Callable[[Callable[[], object]], None]
) -> None:
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


def test_a_drain_of_one_command_waits_for_the_next_without_another_look(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.start(1)
    first = bench.send(ALICE, PlayMove(text="m13-m9"))
    steps: list[str] = []
    read, wait = bench.store.read_inbox, bench.lanes.wait
    later: list[CommandEnvelope] = []

    def waits(what: Lane, seconds: float) -> tuple[bool, bool]:
        steps.append("wait")
        if not later:
            # its sender wakes the drain after it has submitted
            later.append(bench.send(BOB, PlayMove(text="a13-c11")))
            bench.lanes.request(what)
        return wait(what, seconds)

    def reads(shards: Sequence[int], count: int) -> list[InboxEntry]:
        steps.append("read")
        return read(shards, count)

    monkeypatch.setattr(bench.store, "read_inbox", reads)
    monkeypatch.setattr(bench.lanes, "wait", waits)
    assert (
        Drain(bench.store, bench.lanes, bench.queue, LANE, data=bench.client, linger=0.1).run() == 2
    )
    assert all(bench.outcome(order) for order in (first, *later))
    assert steps[:4] == ["read", "wait", "read", "wait"]
    assert steps[-1] == "read", "the lease is released before the last look"


def test_a_holder_is_woken_once_however_many_ask(bench: Bench) -> None:
    bench.lanes.acquire(LANE, "a")
    for _ in range(3):
        assert not bench.lanes.request(LANE)
    assert bench.queue.llen(keys.wakeups(LANE)) == 1
    assert bench.lanes.wait(LANE, 5) == (True, False)
    assert not bench.queue.exists(keys.wakeups(LANE))


def test_a_drain_does_not_linger_while_another_job_waits_for_a_worker(bench: Bench) -> None:
    enqueue_drain(bench.queue, LANE)
    bench.start(1)
    waits: list[float] = []

    class Patient(LaneLeases):
        def wait(self, what: Lane, seconds: float) -> tuple[bool, bool]:
            waits.append(seconds)
            return super().wait(what, seconds)

    lanes = Patient(bench.queue, bench.woken.append)
    Drain(bench.store, lanes, bench.queue, LANE, data=bench.client, linger=3600).run()
    assert waits == []


def test_two_kinds_of_leases_do_not_meet(bench: Bench) -> None:
    others = Leases(bench.queue, lambda _: None, queue="other")
    assert others.acquire("mail", "a") is LeaseResult.ACQUIRED
    assert bench.lanes.acquire(LANE, "b") is LeaseResult.ACQUIRED
    assert others.acquire("mail", "c") is LeaseResult.BUSY
    assert others.release("mail", "a", b"a mark")
    assert others.acquire("mail", "c") is LeaseResult.EXPIRED
    assert others.read_mark("mail") == b"a mark"


# the server's clock was set back: leases seem to last for hours

HOURS_MS = 3_600_000


def ahead(bench: Bench, key: str) -> None:
    """Have a key live as long as one does that was set before the clock went back."""
    assert bench.queue.pexpireat(key, bench.store.now() + HOURS_MS)


def test_a_lease_with_more_time_left_than_it_can_have_is_taken_over(bench: Bench) -> None:
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


def test_a_drain_is_asked_for_though_a_lease_seems_to_last(bench: Bench) -> None:
    for holder in ("killed", "wanted"):
        bench.queue.set(keys.lease(LANE), holder, px=1)
        bench.queue.set(keys.lease(LANE), holder, px=HOURS_MS)
        assert bench.lanes.request(LANE)
        assert not bench.lanes.request(LANE)


def test_the_scheduler_has_a_lane_drained_whose_lease_seems_to_last(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.lanes.acquire(LANE, "killed")
    ahead(bench, keys.lease(LANE))
    Scheduler(bench.store, bench.lanes).tick()
    assert bench.woken == [LANE]
    assert bench.drain() == 1
    assert bench.outcome(order) is not None


def test_an_overtaken_drain_takes_back_a_lease_that_seems_to_last(bench: Bench) -> None:
    bench.lanes.acquire(LANE, "other")
    assert not bench.lanes.renew(LANE, "mine")
    ahead(bench, keys.lease(LANE))
    assert bench.lanes.renew(LANE, "mine")
    assert bench.lanes.acquire(LANE, "other") is LeaseResult.BUSY


def test_a_page_asks_for_a_drain_though_a_lease_seems_to_last(
    bench: Bench, valkey: EmbeddedServer
) -> None:
    bench.queue.set(keys.lease(LANE), "killed", px=HOURS_MS)

    async def ask() -> None:
        async with make_async_client(valkey.url) as client, AutoPipeline(client) as pipe:
            lanes = AsyncLaneLeases(pipe, bench.woken.append)
            await lanes.request(LANE)
            await lanes.request(LANE)

    asyncio.run(asyncio.wait_for(ask(), 30))
    assert bench.woken == [LANE]
