"""Failovers to a replica that has missed moves: the loss is noticed, said, and repaired from the published log."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from redis.exceptions import ResponseError

from infra.redis import keys
from infra.redis.cluster import slot_of_key
from infra.valkey.server import EmbeddedServer
from tests.helpers.clusters import Cluster, Node, SentinelPair, running
from tests.helpers.served import Served, until

SHARDS = 4
MOVES = (("alice", "m13-m9"), ("alice", "m13-m9"), ("bob", "m1-m5"))
"""A move, one that is refused because it is not the player's turn, and an illegal one."""

STATUSES = [200, 409, 422]


def cut_off(replica: Node) -> None:
    """Keep a replica from getting what is written from now on; the others see that it lives."""
    with replica.client() as client:
        client.config_set("masteruser", "nobody")
        client.config_set("masterauth", "wrong")
        client.execute_command("CLIENT", "KILL", "TYPE", "master")


def role(node: Node) -> bytes:
    with node.client() as client:
        found: bytes = client.execute_command("ROLE")[0]
    return found


class Players:
    """Two players of one match over HTTP, who repeat a command with the same key."""

    def __init__(self, served: Served) -> None:
        made = served.run(
            "do",
            "multiple\nsignup alice yes-we-can\nsignup bob yes-we-can\npow2 challenge alice bob",
        )
        assert made.returncode == 0, made.stdout + made.stderr
        self.board = int(re.findall(r"match (\d+)", made.stdout)[-1])
        self.http = httpx.Client(base_url=served.url, trust_env=False, timeout=60)
        self._tokens = {}
        for name in ("alice", "bob"):
            body = {"userid": name, "password": "yes-we-can", "label": "t", "scopes": ["play"]}
            self._tokens[name] = self.http.post("/api/tokens", json=body).json()["token"]

    def play(self) -> list[tuple[int, object, object]]:
        """Send the moves, each with the same key whenever it is sent; return what came of them."""
        return [self._send(number) for number in range(len(MOVES))]

    def _send(self, number: int) -> tuple[int, object, object]:
        player, text = MOVES[number]
        answer = self.http.post(
            f"/api/matches/{self.board}/commands",
            json={"do": "move", "move": text},
            headers={
                "Idempotency-Key": f"key-{number:012}",
                "Authorization": f"Bearer {self._tokens[player]}",
            },
        )
        body = answer.json()
        return answer.status_code, body.get("code"), body.get("seq")

    def match(self) -> dict[str, object]:
        """The match as the API shows it, without the present time."""
        found: dict[str, object] = self.http.get(f"/api/matches/{self.board}").json()
        return {name: value for name, value in found.items() if name != "clock"}


@contextmanager
def serving(folder: Path, url: str) -> Iterator[Served]:
    with EmbeddedServer(folder / "queue", durable=False) as queue:
        env = {
            "MATCHPOST_HTTP": "127.0.0.1:0",
            "MATCHPOST_COMMAND_RATE": "1000000",
            "MATCHPOST_SHARDS": str(SHARDS),
            "MATCHPOST_REDIS_URL": url,
            "MATCHPOST_QUEUE_URL": queue.url,
            "MATCHPOST_DURABILITY": "managed",
        }
        served = Served(folder / "data", env)
        assert served.run("keygen").returncode == 0
        with served:
            yield served


def end_of(node: Node, shard: int) -> int:
    with node.client() as client:
        with suppress(ResponseError):  # only a node of a cluster knows it
            client.readonly()
        return int(client.xlen(keys.log(shard)))


def published(node: Node, shard: int) -> int:
    with node.client() as client:
        return int(client.hget(keys.published(shard), "size") or 0)


def lose_and_restore(served: Served, nodes: Callable[[int], tuple[Node, Node]]) -> None:
    """Play on a primary whose replica gets nothing, and kill it, so that the replica is promoted.

    `nodes` returns the primary of a shard, and its replica.
    """
    players = Players(served)
    shard = players.board % SHARDS
    primary, replica = nodes(shard)
    until(lambda: end_of(replica, shard) == end_of(primary, shard) > 0)
    cut_off(replica)
    outcomes = players.play()
    assert [status for status, _, _ in outcomes] == STATUSES
    match = players.match()
    end = end_of(primary, shard)
    until(lambda: published(primary, shard) == end)
    primary.kill()
    until(lambda: role(replica) == b"master")
    until(lambda: f"shard {shard} takes commands again" in log_of(served), 90)
    lost = f"{end} leaves are published, and the data end at leaf {end - len(MOVES)}"
    assert f"ALARM: shard {shard} is closed: {lost}" in log_of(served)
    until(lambda: players.play() == outcomes)
    until(lambda: players.match() == match)
    primary.start()
    until(lambda: role(primary) == b"slave")
    until(lambda: end_of(primary, shard) >= end)
    until(lambda: players.match() == match)
    until(lambda: players.http.get("/readyz").status_code == 200)
    assert "is closed" not in served.run("doctor").stdout
    verified = served.run("verify", str(players.board))
    assert "holds" in verified.stdout, verified.stderr
    players.http.close()


def log_of(served: Served) -> str:
    return (served.data.parent / "serve.log").read_text()


@pytest.mark.long
@pytest.mark.slow
def test_moves_that_a_promoted_replica_under_sentinels_has_missed_come_back(
    tmp_path: Path,
) -> None:
    with running(SentinelPair(tmp_path / "pair")) as pair, serving(tmp_path, pair.url) as served:
        primary, replica = pair.servers
        lose_and_restore(served, lambda _: (primary, replica))


@pytest.mark.long
@pytest.mark.slow
def test_moves_that_a_promoted_replica_of_a_cluster_has_missed_come_back(tmp_path: Path) -> None:
    with (
        running(Cluster(tmp_path / "cluster", 3, 1)) as cluster,
        serving(tmp_path, cluster.url) as served,
    ):

        def nodes(shard: int) -> tuple[Node, Node]:
            at = slot_of_key(keys.log(shard)) * 3 // 16_384
            return cluster.nodes[at], cluster.nodes[3 + at]

        lose_and_restore(served, nodes)
