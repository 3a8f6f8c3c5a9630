"""`/healthz` and `/readyz`, while the servers of the matches change under a web process."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from infra.durability.durability import DurabilityNotes
from infra.durability.durability_watch import DurabilityWatch
from infra.health.heartbeats import Heartbeat, Role
from infra.health.status import Status
from infra.redis.autopipeline import open_pipeline
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.store.async_gateway import AsyncStore
from infra.store.closed_shards import ClosedShards, rolled_back
from infra.store.layout import initial_layout
from infra.store.redis_store import RedisStore
from infra.valkey.server import EmbeddedServer
from services.doctor import Finding, Level, gather, judge
from services.http.health import HealthCheck, MoveReadiness
from tests.helpers.api import Api
from tests.helpers.clusters import Cluster
from tests.helpers.replicas import Pair
from tests.helpers.served import Served, queue_of, until


@pytest.fixture
def redis(api: Api) -> Iterator[Redis]:
    with api.server.client() as client:
        yield client


def unready(api: Api) -> str:
    """Wait until the server is not ready, with the process alive; return why."""
    until(lambda: api.http.get("/readyz").status_code == 503)
    answer = api.http.get("/readyz")
    assert answer.json()["code"] == "unavailable"
    assert int(answer.headers["Retry-After"]) > 0
    health = api.http.get("/healthz")
    assert (health.status_code, health.json()["status"]) == (200, "ok")
    return str(answer.json()["detail"])


def is_ready(api: Api) -> bool:
    return bool(api.http.get("/readyz").status_code == 200)


def test_a_closed_shard_takes_no_move_and_its_matches_are_shown(api, redis):
    one, other = api.players()
    board = api.match(one, other)
    closed = ClosedShards(redis)
    closed.close(board % 4, rolled_back(board % 4, 9, 5))
    assert f"shard {board % 4} is closed: 9 leaves are published" in unready(api)
    refused = one.move(board, "m13-j7")
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert refused.headers["Retry-After"]
    assert "have to be restored first" in refused.json()["detail"]
    assert api.http.get(f"/api/matches/{board}").json()["ply"] == 0
    closed.open(board % 4)
    assert one.move(board, "m13-j7").status_code == 200
    until(lambda: is_ready(api))


def test_a_full_server_is_not_ready_and_nothing_is_lost(api, redis):
    one, other = api.players()
    board = api.match(one, other)
    redis.config_set("maxmemory", "1mb")
    refused = one.move(board, "m13-j7")
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert refused.headers["Retry-After"]
    assert "memory is full" in unready(api)
    assert api.http.get(f"/api/matches/{board}").json()["ply"] == 0
    redis.config_set("maxmemory", "0")
    until(lambda: is_ready(api))
    assert one.move(board, "m13-j7").status_code == 200


def test_a_server_without_seeds_or_that_hangs_is_not_ready(api, redis):
    beat, queue = Heartbeat(Role.WORKER, "1", lost=lambda: [2]), queue_of(redis)
    beat.write(redis, queue)
    assert "no command worker has the seeds of shards 2" in unready(api)
    beat.remove(queue)
    until(lambda: is_ready(api))
    pid = redis.info("server")["process_id"]
    os.kill(pid, signal.SIGSTOP)
    try:
        assert "does not answer within" in unready(api)
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: is_ready(api))


def test_serve_does_not_start_under_fsync_on_a_server_with_a_replica(tmp_path):
    with Pair(tmp_path, {}) as pair:
        served = Served(tmp_path / "data", {"MATCHPOST_REDIS_URL": pair.primary.url})
        refused = served.run("serve")
    assert refused.returncode == 2
    assert "a failover would take back moves" in refused.stderr


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


def test_every_node_that_is_not_durable_is_named_by_readyz_and_the_doctor(
    settings, made, redis_client, cluster
):
    (found,) = durability(settings)
    assert (found.level, found.what) == (Level.OK, "every accepted move is on the disk of its node")
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
