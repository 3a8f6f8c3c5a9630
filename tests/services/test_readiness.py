"""`/healthz` and `/readyz`, while the server of the matches changes under a web process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from redis import Redis

from infra.health.heartbeats import Heartbeat, Role
from infra.redis import keys
from infra.store.closed_shards import ClosedShards, rolled_back
from infra.store.lost_leaves import LossRecord
from infra.valkey.server import EmbeddedServer
from tests.helpers.api import Api
from tests.helpers.replicas import COUNTED, Pair, enlist
from tests.helpers.served import Served, queue_of, until


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with Api(tmp_path) as api:
        yield api


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


def test_a_server_that_keeps_moves_is_ready(api: Api) -> None:
    answer = api.http.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")


@pytest.mark.long
def test_a_server_that_becomes_a_replica_is_not_ready(api: Api, redis: Redis) -> None:
    assert is_ready(api)
    redis.replicaof("127.0.0.1", "1")
    assert "is a replica" in unready(api)
    redis.replicaof("NO", "ONE")
    until(lambda: is_ready(api))


@pytest.mark.long
def test_a_server_with_a_replica_is_not_ready_under_fsync(
    api: Api, redis: Redis, tmp_path: Path
) -> None:
    with EmbeddedServer(tmp_path / "replica") as replica:
        enlist(redis, replica)
        assert "the server has 1 replica, and a failover would take back moves" in unready(api)
    until(lambda: is_ready(api))


def test_a_server_that_syncs_no_write_is_not_ready(api: Api, redis: Redis) -> None:
    redis.config_set("appendfsync", "everysec")
    assert "'appendfsync' is 'everysec'" in unready(api)
    redis.config_set("appendfsync", "always")
    until(lambda: is_ready(api))


def test_a_closed_shard_takes_no_move_and_its_matches_are_shown(api: Api, redis: Redis) -> None:
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


def test_a_loss_of_what_was_not_published_is_noted(api: Api, redis: Redis) -> None:
    assert api.http.get("/readyz").json()["notes"] == []
    LossRecord(redis).note(1, 5, 7)
    until(lambda: api.http.get("/readyz").json()["notes"])
    (note,) = api.http.get("/readyz").json()["notes"]
    assert note.startswith("shard 1 has lost 2 leaves from 5 on, which were accepted")
    redis.hset(keys.published(1), "lost", "5 7 0")
    until(lambda: api.http.get("/readyz").json()["notes"] == [])


def test_a_full_server_is_not_ready_and_nothing_is_lost(api: Api, redis: Redis) -> None:
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


def test_a_server_that_is_gone_is_not_ready(api: Api) -> None:
    api.server.kill()
    assert "does not answer" in unready(api)


def test_a_server_that_hangs_is_not_ready(api: Api, redis: Redis) -> None:
    pid = redis.info("server")["process_id"]
    assert is_ready(api)
    os.kill(pid, signal.SIGSTOP)
    try:
        assert "does not answer within" in unready(api)
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: is_ready(api))


def test_a_server_without_seeds_is_not_ready(api: Api, redis: Redis) -> None:
    beat = Heartbeat(Role.WORKER, "1", lost=lambda: [2])
    queue = queue_of(redis)
    beat.write(redis, queue)
    assert "no command worker has the seeds of shards 2" in unready(api)
    beat.remove(queue)
    until(lambda: is_ready(api))


@pytest.mark.long
@pytest.mark.slow
def test_no_move_is_accepted_after_durability_is_switched_off_under_a_running_server(
    tmp_path: Path,
) -> None:
    env = {"MATCHPOST_HTTP": "127.0.0.1:0", "MATCHPOST_COMMAND_RATE": "1000000"}
    with (
        Served(tmp_path / "data", env) as served,
        httpx.Client(base_url=served.url, trust_env=False, timeout=30) as http,
        served.client() as redis,
        served.queue() as queue,
    ):
        served.do("signup alice yes-we-can", "signup bob yes-we-can", "pow2 challenge alice bob")
        body = {"userid": "alice", "password": "yes-we-can", "label": "t", "scopes": ["play"]}
        token = http.post("/api/tokens", json=body).json()["token"]
        http.headers["Authorization"] = f"Bearer {token}"

        def move() -> httpx.Response:
            order = {"do": "move", "ply": 0, "move": "m13-j7"}
            return http.post("/api/matches/1/commands", json=order, params={"wait": 1})

        redis.config_set("appendfsync", "everysec")
        until(lambda: queue.get(keys.DURABILITY), 60)
        answers = [
            move()
        ]  # the first may be pending, because the web process reads the note each second
        until(lambda: answers.append(move()) or answers[-1].status_code == 503, 60)
        assert {answer.status_code for answer in answers} <= {202, 503}
        assert answers[-1].json()["code"] == "unavailable"
        assert answers[-1].headers["Retry-After"]
        assert http.get("/api/matches/1").json()["ply"] == 0
        assert http.get("/readyz").status_code == 503
        assert http.get("/healthz").status_code == 200
        assert "'appendfsync' is 'everysec'" in served.run("doctor").stdout
        assert served.run("do", "pow2 move 1 alice yes-we-can m13-j7").returncode == 2
        redis.config_set("appendfsync", "always")
        until(
            lambda: http.get("/api/matches/1").json()["ply"] == 1 or move().status_code == 200, 60
        )
        until(lambda: http.get("/readyz").status_code == 200, 60)


@pytest.mark.long
@pytest.mark.slow
def test_a_replicated_server_takes_moves_only_while_its_replica_syncs_them(tmp_path: Path) -> None:
    with Pair(tmp_path, COUNTED) as pair:
        env = {
            "MATCHPOST_HTTP": "127.0.0.1:0",
            "MATCHPOST_COMMAND_RATE": "1000000",
            "MATCHPOST_REDIS_URL": pair.primary.url,
            "MATCHPOST_DURABILITY": "replicated",
        }
        with (
            Served(tmp_path / "data", env) as served,
            httpx.Client(base_url=served.url, trust_env=False, timeout=30) as http,
        ):
            served.do(
                "signup alice yes-we-can", "signup bob yes-we-can", "pow2 challenge alice bob"
            )
            assert http.get("/readyz").status_code == 200
            body = {"userid": "alice", "password": "yes-we-can", "label": "t", "scopes": ["play"]}
            token = http.post("/api/tokens", json=body).json()["token"]
            http.headers["Authorization"] = f"Bearer {token}"

            def move() -> httpx.Response:
                order = {"do": "move", "ply": 0, "move": "m13-j7"}
                return http.post(
                    "/api/matches/1/commands",
                    json=order,
                    params={"wait": 1},
                    headers={"Idempotency-Key": "0123456789abcdef"},
                )

            replica = pair.replica.pid or 0
            os.kill(replica, signal.SIGSTOP)
            try:
                assert move().status_code == 202
                until(lambda: http.get("/api/matches/1").json()["ply"] == 1, 60)
                assert move().status_code in (202, 503)
                until(lambda: http.get("/readyz").status_code == 503, 60)
            finally:
                os.kill(replica, signal.SIGCONT)
            until(lambda: move().status_code == 200, 60)
            until(lambda: http.get("/readyz").status_code == 200, 60)
            pair.replica.stop()
            until(lambda: http.get("/readyz").status_code == 503, 60)
            assert (
                "no replicas of the server can be waited for"
                in http.get("/readyz").json()["detail"]
            )
            assert "no replicas of the server" in served.run("doctor").stdout
            enlist_again(pair)
            until(lambda: http.get("/readyz").status_code == 200, 60)


def test_serve_does_not_start_under_fsync_on_a_server_with_a_replica(tmp_path: Path) -> None:
    with Pair(tmp_path, {}) as pair:
        served = Served(tmp_path / "data", {"MATCHPOST_REDIS_URL": pair.primary.url})
        refused = served.run("serve")
    assert refused.returncode == 2
    assert "a failover would take back moves" in refused.stderr


def enlist_again(pair: Pair) -> None:
    pair.replica.start()
    enlist(pair.client, pair.replica)
