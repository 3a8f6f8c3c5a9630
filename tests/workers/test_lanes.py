"""Lanes and their leases on a real server: one drain at a time, and none that is missed."""

import asyncio
from collections.abc import Callable, Sequence
from threading import Thread

from domain.match.commands import CommandEnvelope, PlayMove
from infra.durability import Mode
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.store.leases import LEASE_MS, AsyncLaneLeases, LaneLeases, LeaseResult
from infra.store.port import CommitResult, Write
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from workers.commands.drain import Drain
from workers.scheduler import Scheduler


def test_a_lane_has_one_drain_at_a_time(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.lanes.acquire(0, "another")
    assert bench.drain() == 0
    assert bench.outcome(order) is None
    bench.lanes.release(0, "another")
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
        bench.client.delete(keys.lease(0))
        assert bench.drain() == 1

    store = Between(bench.client, Mode.FSYNC)
    store.happens = overtake
    Drain(store, bench.lanes, bench.client, 0).run()
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
    assert bench.woken == [0]
    assert bench.drain() == 1


class Slow(LaneLeases):
    """Lanes that let something happen just before a drain leaves."""

    happens: Callable[[], None]

    def release(self, lane: int, token: str) -> bool:
        self.happens()
        return super().release(lane, token)


def test_what_comes_while_a_drain_leaves_wakes_the_next(bench: Bench) -> None:
    bench.start(1)

    def late() -> None:
        bench.send(ALICE, PlayMove(text="m13-m9"))
        # its sender sees the lease and asks for nobody
        assert not bench.lanes.request_drain(0)

    lanes = Slow(bench.client, bench.woken.append)
    lanes.happens = late
    Drain(bench.store, lanes, bench.client, 0).run()
    assert bench.woken == [0]


def test_a_wake_up_is_sent_once_until_a_drain_has_come(bench: Bench) -> None:
    assert [bench.lanes.request_drain(0) for _ in range(3)] == [True, False, False]
    assert bench.woken == [0]
    assert bench.lanes.acquire(0, "a") is LeaseResult.FREE


def test_a_lease_lasts_its_time_and_is_renewed_by_its_holder_only(bench: Bench) -> None:
    bench.lanes.acquire(0, "a")
    assert 0 < bench.client.pttl(keys.lease(0)) <= LEASE_MS
    assert bench.lanes.acquire(0, "b") is LeaseResult.BUSY
    bench.client.pexpire(keys.lease(0), LEASE_MS // 10)
    assert bench.lanes.renew(0, "a")
    assert LEASE_MS // 2 < bench.client.pttl(keys.lease(0)) <= LEASE_MS
    assert not bench.lanes.renew(0, "b")
    assert not bench.lanes.release(0, "b")
    assert bench.lanes.release(0, "a")
    assert bench.lanes.acquire(0, "b") is LeaseResult.FREE


def test_a_lease_that_vanished_is_taken_back(bench: Bench) -> None:
    bench.lanes.acquire(0, "a")
    bench.client.flushall()
    assert bench.lanes.renew(0, "a")
    assert bench.lanes.acquire(0, "b") is LeaseResult.BUSY


def test_the_keeper_wakes_a_lane_where_commands_wait_and_no_drain_runs(bench: Bench) -> None:
    keeper = Scheduler(bench.store, bench.lanes)
    keeper.tick()
    assert bench.woken == []
    bench.send(ALICE, PlayMove(text="m13-m9"))
    keeper.tick()
    keeper.tick()
    assert bench.woken == [0]
    bench.drain()
    keeper.tick()
    assert bench.woken == [0]


def test_drains_in_threads_of_their_own_decide_every_command_once(bench: Bench) -> None:
    bench.start(*range(1, 9))
    orders = [
        bench.send(ALICE, PlayMove(text=text), board)
        for board in range(1, 9)
        for text in ("m13-m9", "m13-j7")
    ]

    def run() -> None:
        bench.client.delete(keys.lease(0))
        Drain(bench.store, bench.lanes, bench.client, 0).run()

    # the limits are for the main thread: these drains decide without
    threads = [Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [bool(bench.outcome(order)) for order in orders] == [True] * len(orders)
    assert all(len(bench.store.events(board)) == 2 for board in range(1, 9))


# the server's clock was set back: leases seem to last for hours

HOURS_MS = 3_600_000


def ahead(bench: Bench, key: str) -> None:
    """Have a key live as long as one does that was set before the clock went back."""
    assert bench.client.pexpireat(key, bench.store.now() + HOURS_MS)


def test_a_lease_with_more_time_left_than_it_can_have_is_taken_over(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.lanes.acquire(0, "killed")
    ahead(bench, keys.lease(0))
    assert bench.lanes.acquire(0, "next") is LeaseResult.EXPIRED
    assert 0 < bench.client.pttl(keys.lease(0)) <= LEASE_MS
    assert bench.lanes.acquire(0, "third") is LeaseResult.BUSY
    bench.lanes.release(0, "next")
    assert bench.drain() == 1
    assert bench.outcome(order) is not None


def test_a_drain_is_asked_for_though_a_lease_seems_to_last(bench: Bench) -> None:
    for holder in ("killed", "wanted"):
        bench.client.set(keys.lease(0), holder, px=1)
        bench.client.set(keys.lease(0), holder, px=HOURS_MS)
        assert bench.lanes.request_drain(0)
        assert not bench.lanes.request_drain(0)


def test_the_scheduler_has_a_lane_drained_whose_lease_seems_to_last(bench: Bench) -> None:
    bench.start(1)
    order = bench.send(ALICE, PlayMove(text="m13-m9"))
    bench.lanes.acquire(0, "killed")
    ahead(bench, keys.lease(0))
    Scheduler(bench.store, bench.lanes).tick()
    assert bench.woken == [0]
    assert bench.drain() == 1
    assert bench.outcome(order) is not None


def test_an_overtaken_drain_takes_back_a_lease_that_seems_to_last(bench: Bench) -> None:
    bench.lanes.acquire(0, "other")
    assert not bench.lanes.renew(0, "mine")
    ahead(bench, keys.lease(0))
    assert bench.lanes.renew(0, "mine")
    assert bench.lanes.acquire(0, "other") is LeaseResult.BUSY


def test_a_page_asks_for_a_drain_though_a_lease_seems_to_last(
    bench: Bench, valkey: EmbeddedServer
) -> None:
    bench.client.set(keys.lease(0), "killed", px=HOURS_MS)

    async def ask() -> None:
        async with make_async_client(valkey.url) as client, AutoPipeline(client) as pipe:
            lanes = AsyncLaneLeases(pipe, bench.woken.append)
            await lanes.request_drain(0)
            await lanes.request_drain(0)

    asyncio.run(asyncio.wait_for(ask(), 30))
    assert bench.woken == [0]
