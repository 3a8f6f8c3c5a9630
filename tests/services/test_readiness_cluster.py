"""`/readyz` and the doctor on a cluster: a node that is away or not durable is named."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from infra.durability.durability import DurabilityNotes
from infra.durability.durability_watch import DurabilityWatch
from infra.health.status import Status
from infra.redis.autopipeline import open_pipeline
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.store.async_gateway import AsyncStore
from infra.store.layout import initial_layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.doctor import Finding, Level, gather, judge
from services.http.health import HealthCheck, MoveReadiness
from tests.helpers.clusters import Cluster, Node

SHARDS = 4


@pytest.fixture
def settings(cluster: Cluster, valkey: EmbeddedServer, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, redis_url=cluster.url, queue_url=valkey.url, shards=SHARDS)


@pytest.fixture
def made(cluster: Cluster, settings: Settings, redis_client: Redis) -> Iterator[Redis]:
    """A client of a cluster with data, and a queue server that has a note."""
    cluster.flush()
    with make_client(cluster.url) as client:
        RedisStore(client, settings.durability).create(initial_layout(client, SHARDS, 1))
        DurabilityNotes(redis_client).write("")
        yield client


@pytest.fixture
def third(cluster: Cluster) -> Iterator[Node]:
    """A node that a test may kill."""
    node = cluster.primaries[2]
    yield node
    node.kill()
    node.start()
    cluster.wait_until(cluster.whole)


async def readiness(settings: Settings, data: Redis, queue: Redis, then: Callable[[], None]) -> str:
    """What `/readyz` says after something has happened to the nodes."""
    layout = initial_layout(data, SHARDS, 1)
    watch = DurabilityWatch(data, queue, settings.durability)
    store = RedisStore(data, settings.durability)
    async with open_pipeline(settings.redis_url or "") as pipe:
        health = HealthCheck(
            AsyncStore(pipe, layout, 9), lambda: Status(settings, data, queue, store), watch
        )
        assert await health.readiness() == MoveReadiness("")
        await asyncio.to_thread(then)
        while True:
            if fault := (await health.readiness()).fault:
                return fault
            await asyncio.sleep(0.05)


def durability(settings: Settings) -> list[Finding]:
    """What the doctor finds."""
    return [one for one in judge(gather(settings)) if one.about == "durability"]


def test_a_node_that_is_away_is_named_by_readyz(
    settings: Settings, made: Redis, redis_client: Redis, third: Node
) -> None:
    sentence = asyncio.run(readiness(settings, made, redis_client, third.kill))
    assert "does not answer" in sentence
    assert f"node 127.0.0.1:{third.port}: " in sentence


def test_every_node_that_is_not_durable_is_named_by_readyz_and_the_doctor(
    settings: Settings, made: Redis, redis_client: Redis, cluster: Cluster
) -> None:
    (found,) = durability(settings)
    assert (found.level, found.what) == (
        Level.OK,
        "every accepted move is on the disk of its node",
    )
    nodes = cluster.primaries[1:]

    def loosen() -> None:
        for node in nodes:
            with node.client() as client:
                client.config_set("appendfsync", "everysec")

    try:
        sentence = asyncio.run(readiness(settings, made, redis_client, loosen))
        findings = durability(settings)
    finally:
        for node in nodes:
            with node.client() as client:
                client.config_set("appendfsync", "always")
    assert [one.level for one in findings] == [Level.BAD, Level.BAD]
    for node, found in zip(sorted(nodes, key=lambda node: str(node.port)), findings, strict=True):
        wrong = f"node 127.0.0.1:{node.port}: the server's setting 'appendfsync' is 'everysec'"
        assert wrong in sentence
        assert found.what.startswith(wrong)
