"""The cost of a move that comes alone: the commands of the data server, those inside scripts included."""

import asyncio

from infra.log.key_files import generate_keys, read_keys
from infra.people.tokens import AsyncTokens, Scope, Tokens
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline
from infra.redis.clients import make_async_client
from infra.redis.server import ServerTime
from infra.store.async_gateway import AsyncStore
from infra.store.channels import LogListener
from infra.store.gateway import submission_of
from infra.store.watermarks import PublishedSizes
from tests.fakes.memory_store import MemoryObjects, memory_client
from tests.helpers.bench import Bench
from tests.helpers.given import ALICE, BOB
from tests.helpers.robots import some_move
from workers.log.publisher import Publisher
from workers.projections.worker import ProjectionWorker
from workers.scheduler import Scheduler

MOST = 44
"""One is the scheduler's look of each second. What comes once in a while (positions, the layout) is not counted."""

MEASURING = frozenset({"cmdstat_info", "cmdstat_config|resetstat"})


def test_a_lone_move_costs_few_commands(redis_client, valkey, tmp_path):
    queue = memory_client()
    bench = Bench(redis_client, tmp_path / "seeds", queue)
    bench.start(1)
    for account in (ALICE, BOB):
        redis_client.set(keys.account(account), "a record")
    tokens = [
        Tokens(redis_client).issue(account, "bench", [Scope.PLAY]).text for account in (ALICE, BOB)
    ]
    side = ProjectionWorker(bench.store, redis_client, queue=queue)
    while side.round() or side.has_work:
        pass
    generate_keys(tmp_path / "keys", "play.example.org")
    publisher = Publisher(
        *(bench.store, PublishedSizes(redis_client, queue), MemoryObjects()),
        *(lambda: read_keys(tmp_path / "keys"), 0.0),
        news=LogListener(queue),
    )
    publisher.begin()
    publisher.round(0)
    scheduler = Scheduler(bench.store, bench.lanes)
    side._news.wait(0.01)  # it hears from now on

    costs: list[dict[str, int]] = []

    async def play() -> None:
        async with make_async_client(valkey.url) as client, AutoPipeline(client) as pipe:
            store = AsyncStore(pipe, bench.store.layout(), 1_000)
            checked = AsyncTokens(pipe, ServerTime())
            for _ in range(4):
                state, move = bench.state(), some_move(bench)
                (seat,) = state.waits
                redis_client.config_resetstat()
                token, _ = await checked.check_and_read(tokens[seat], [store.snapshot_command(1)])
                assert token is not None
                sent = bench.order((ALICE, BOB)[seat], move)
                await store.submit([submission_of(sent, state.ply, "reply:test")])
                assert bench.drain() == 1
                await store.leaf(1, publisher._shards[1].size)
                side._feed.wait(side._live, side._news, 0.5)
                assert side.round() == 1
                assert publisher.round(0) == 1
                scheduler.tick()
                stats = redis_client.info("commandstats").items()
                costs.append({name: of["calls"] for name, of in stats if name not in MEASURING})

    asyncio.run(play())
    # the first ones meet scripts and accounts that are not known
    assert min(sum(cost.values()) for cost in costs) <= MOST, costs
