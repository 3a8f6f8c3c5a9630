"""A real server whose data go back: it closes, restores what was published, and loses no move."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.redis import keys
from infra.store.closed_shards import ClosedShards
from infra.store.published_sizes import read_published_sizes
from tests.helpers.served import Served, until

SHARDS = 4
ENV = {
    "MATCHPOST_HTTP": "127.0.0.1:0",
    "MATCHPOST_COMMAND_RATE": "1000000",
    "MATCHPOST_SHARDS": str(SHARDS),
}
MOVES = ("m13-j7", "a1-a3", "j7-j6", "a3-a4")


class Table:
    """A server with two players at one match."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.http = httpx.Client(base_url=served.url, trust_env=False, timeout=30)

    def move(self, player: str, key: str, text: str) -> httpx.Response:
        """A move with a key; the same one again is the same command."""
        body = {"do": "move", "move": text}
        return self.http.post(
            "/api/matches/1/commands",
            json=body,
            headers={"Idempotency-Key": key, "Authorization": f"Bearer {self.token(player)}"},
        )

    def token(self, player: str) -> str:
        body = {"userid": player, "password": "builder2", "label": "t", "scopes": ["play"]}
        return str(self.http.post("/api/tokens", json=body).json()["token"])

    def is_published(self) -> bool:
        """Whether all leaves of all logs are."""
        with self.served.client() as client:
            sizes = [one.size for one in read_published_sizes(client, SHARDS)]
            ends = [client.xlen(keys.log(shard)) for shard in range(SHARDS)]
            return sizes == ends


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path / "data", ENV)
    yield made
    if made.process is not None:
        made.end()


def legal(table: Table) -> str:
    """A legal move of the player to move."""
    return str(table.http.get("/api/matches/1/moves").json()["moves"][0])


@pytest.mark.slow
def test_an_old_copy_of_the_data_is_closed_restored_and_opened(
    served: Served, tmp_path: Path
) -> None:
    served.start()
    served.do("signup alice builder2", "signup bob builder2", "pow2 challenge alice bob")
    table = Table(served)
    until(table.is_published, 60)
    served.end()
    shutil.copytree(tmp_path / "data" / "valkey", tmp_path / "copy")
    served.start()
    table = Table(served)
    answers = [
        table.move(player, f"key-{number:012}-0000", text)
        for number, (player, text) in enumerate(
            [("alice", "m13-m9"), ("alice", "m13-m9"), ("bob", "m1-m5")]
        )
    ]
    outcomes = [(one.status_code, one.json().get("code"), one.json().get("seq")) for one in answers]
    assert [status for status, _, _ in outcomes] != [503] * 3
    state = table.http.get("/api/matches/1").json()
    until(table.is_published, 60)
    served.end()
    shutil.rmtree(tmp_path / "data" / "valkey")
    shutil.copytree(tmp_path / "copy", tmp_path / "data" / "valkey")
    (tmp_path / "data" / "valkey.synced").unlink(missing_ok=True)
    served.start()
    with served.client() as client:
        until(lambda: client.xlen(keys.log(1)) >= 3, 60)
        until(lambda: not ClosedShards(client).read(range(SHARDS)), 60)
    log = (tmp_path / "serve.log").read_text()
    assert "ALARM: shard 1 is closed:" in log
    assert "shard 1 takes commands again" in log
    assert "there is no way" not in log
    table = Table(served)
    assert table.http.get("/api/matches/1").json()["moves"] == state["moves"]
    again = [
        table.move(player, f"key-{number:012}-0000", text)
        for number, (player, text) in enumerate(
            [("alice", "m13-m9"), ("alice", "m13-m9"), ("bob", "m1-m5")]
        )
    ]
    assert [
        (one.status_code, one.json().get("code"), one.json().get("seq")) for one in again
    ] == outcomes
    verified = served.run("verify", "1")
    assert verified.returncode == 0, verified.stderr
    assert "match 1 holds" in verified.stdout
    doctor = served.run("doctor").stdout
    assert "is closed" not in doctor
    until(table.is_published, 60)
