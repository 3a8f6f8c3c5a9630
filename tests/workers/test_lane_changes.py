"""The lanes are changed while processes run: no command waits for a drain that does not come."""

import asyncio
import time
from pathlib import Path

import pytest
from redis import Redis

from domain.match.audit import verify
from domain.match.commands import StartMatch
from infra.durability.durability import Mode
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.redis.keys import Lane
from infra.store import async_gateway
from infra.store.async_gateway import AsyncCommandGateway, AsyncStore
from infra.store.gateway import submission_of
from infra.store.layout import LAYOUT_SECONDS, Layout
from infra.store.leases import AsyncLaneLeases, LaneLeases
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from tests.helpers.given import ALICE, BOB, sent
from tests.helpers.served import Served, all_play, matches, until
from workers.commands.drain import Drain
from workers.scheduler import Scheduler

START = StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB))


@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 3), (8, 5)])
def test_a_worker_that_read_the_lanes_before_drains_all_shards_of_the_lanes_now(
    redis_client: Redis, before: int, after: int
) -> None:
    worker = RedisStore(redis_client, Mode.FSYNC)
    worker.create(Layout(shards=8, lanes=before))
    requested: list[Lane] = []
    lanes = LaneLeases(redis_client, requested.append)
    RedisStore(redis_client, Mode.FSYNC).change_lanes(after)
    orders = [sent(ALICE, START, board, board) for board in range(1, 9)]
    worker.submit([submission_of(order, 0, "reply:test") for order in orders])
    Scheduler(RedisStore(redis_client, Mode.FSYNC), lanes).tick()
    for lane in requested:
        Drain(worker, lanes, redis_client, lane).run()
    assert {lane.of for lane in requested} == {after}
    assert all(worker.outcome(order.match, order.id) for order in orders)


@pytest.mark.parametrize(("before", "after"), [(3, 1), (1, 8)])
def test_a_gateway_that_knows_the_lanes_before_still_has_its_shard_drained(
    redis_client: Redis, before: int, after: int
) -> None:
    gateway = RedisStore(redis_client, Mode.FSYNC)
    gateway.create(Layout(shards=8, lanes=before))
    requested: list[Lane] = []
    lanes = LaneLeases(redis_client, requested.append)
    worker = RedisStore(redis_client, Mode.FSYNC)
    worker.change_lanes(after)
    for board in range(1, 9):
        order = sent(ALICE, START, board, board)
        gateway.submit([submission_of(order, 0, "reply:test")])
        lanes.request(Layout(8, before).lane_of(board))
        while requested:
            Drain(worker, lanes, redis_client, requested.pop()).run()
        assert gateway.outcome(board, order.id)


def test_a_scheduler_learns_of_the_lanes_without_a_restart(
    redis_client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_web_process_learns_of_the_lanes_without_a_restart(
    redis_client: Redis, valkey: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(async_gateway, "LOOK_SECONDS", 0.01)
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
def test_lanes_changed_under_load_lose_nothing_and_stop_nobody(tmp_path: Path) -> None:
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
def test_a_second_start_with_other_workers_takes_the_recorded_lanes(tmp_path: Path) -> None:
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
