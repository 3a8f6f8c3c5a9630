"""The gateway of event loops on a cluster: a node that is slow or lost holds up nobody else's commands."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from redis import ConnectionError as LostConnectionError
from redis import Redis

from domain.match.commands import CommandEnvelope, StartMatch
from infra.durability.durability import Mode
from infra.redis import keys
from infra.redis.autopipeline import AutoPipeline, open_pipeline
from infra.redis.clients import make_async_client
from infra.store import async_gateway
from infra.store.async_gateway import AsyncCommandGateway, AsyncStore
from infra.store.layout import Layout, Numbering
from infra.store.leases import AsyncLaneLeases
from infra.store.port import Submission, SubmitResult
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from tests.helpers.clusters import Cluster, Node
from tests.helpers.given import ALICE, BOB, sent

LAYOUT = Layout(shards=4, lanes=1, numbering=Numbering.SHARD)


def start(board: int) -> CommandEnvelope:
    return sent(ALICE, StartMatch(rules="pow2/1", options=(), seats=(ALICE, BOB)), board, board)


class Breaking(AsyncStore):
    """Breaks the connection after the first submissions, which were taken."""

    breaks = 0

    async def submit(self, submissions: Sequence[Submission]) -> list[SubmitResult]:
        answers = await super().submit(submissions)
        self.breaks -= 1
        if self.breaks >= 0:
            raise LostConnectionError("the node was killed")
        return answers


@pytest.fixture
def store(cluster_client: Redis) -> RedisStore:
    made = RedisStore(cluster_client, Mode.FSYNC)
    made.create(LAYOUT)
    return made


@asynccontextmanager
async def opened(
    cluster: Cluster, queue: EmbeddedServer, breaks: int = 0
) -> AsyncIterator[AsyncCommandGateway]:
    """Open a gateway whose process knows the map of the cluster."""
    async with (
        open_pipeline(cluster.url) as pipe,
        make_async_client(queue.url) as client,
        AutoPipeline(client) as apart,
    ):
        made = Breaking(pipe, LAYOUT, 100)
        await made.refresh_layout()
        made.breaks = breaks
        lanes = AsyncLaneLeases(apart, lambda _: None)
        async with AsyncCommandGateway(made, lanes, client) as gateway:
            yield gateway


def node_of(cluster: Cluster, client: Redis, shard: int) -> Node:
    """Return the node of a shard."""
    port = client.slots.address_of(keys.slot_of(shard))[1]  # type: ignore[attr-defined]
    return next(node for node in cluster.nodes if node.port == port)


def test_a_slow_node_holds_up_only_its_own_commands(
    store: RedisStore, cluster: Cluster, cluster_client: Redis, valkey: EmbeddedServer
) -> None:
    slow, fast = node_of(cluster, cluster_client, 1), node_of(cluster, cluster_client, 3)
    assert slow is not fast

    async def submit() -> None:
        async with opened(cluster, valkey) as gateway:
            os.kill(slow.pid, signal.SIGSTOP)
            try:
                # at one moment, as in one batch
                late, other = (
                    asyncio.create_task(gateway.submit_all([start(board)])) for board in (1, 3)
                )
                await other
                assert not late.done()
            finally:
                os.kill(slow.pid, signal.SIGCONT)
            await late

    asyncio.run(submit())
    assert sorted(one.shard for one in store.read_inbox(range(4), 8)) == [1, 3]


def test_commands_whose_connection_broke_are_submitted_again(
    store: RedisStore,
    cluster: Cluster,
    valkey: EmbeddedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(async_gateway, "REPEAT_SECONDS", 0)

    async def submit(breaks: int) -> None:
        async with opened(cluster, valkey, breaks) as gateway:
            await gateway.submit_all([start(1)])

    asyncio.run(submit(1))
    assert [one.shard for one in store.read_inbox([1], 8)] == [1, 1], "a drain drops the second"
    with pytest.raises(LostConnectionError):
        asyncio.run(submit(2))
