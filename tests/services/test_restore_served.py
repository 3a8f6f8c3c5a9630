"""A real server whose data are of another history: closed, shown, never signed, and restored when they are discarded.

That data which have gone back are restored is tried by `trials/faults/log_kills.py` and `tests/backup/test_backup_served.py`.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from infra.redis import keys
from infra.store.closed_shards import ClosedKind, ClosedShards
from infra.store.watermarks import read_published_sizes
from tests.helpers.served import Served, until

pytestmark = pytest.mark.long

SHARDS = 4
ENV = {
    "MATCHPOST_HTTP": "127.0.0.1:0", "MATCHPOST_COMMAND_RATE": "1000000", "MATCHPOST_SHARDS": str(SHARDS),
}  # fmt: skip

Orders = tuple[tuple[str, str], ...]
ORDERS: Orders = (("alice", "m13-m9"), ("alice", "m13-m9"), ("bob", "m1-m5"))
"""A move, one that is refused because it is not the player's turn, and an illegal one."""


class Visitor:
    """A client of a running server, with tokens of two players."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        asked = {"password": "yes-we-can", "label": "t", "scopes": ["play"]}
        self._tokens = {
            name: self.http.post("/api/tokens", json=asked | {"userid": name}).json()["token"]
            for name in ("alice", "bob")
        }

    def play(self, orders: Orders = ORDERS) -> list[tuple[int, object, object]]:
        """Send moves, each with the same key whenever it is sent; return what came of them."""
        answers = []
        for number, (player, text) in enumerate(orders):
            headers = {
                "Idempotency-Key": f"key-{number:012}-{text}",
                "Authorization": f"Bearer {self._tokens[player]}",
            }
            asked = {"do": "move", "move": text}
            answer = self.http.post("/api/matches/1/commands", json=asked, headers=headers)
            body = answer.json()
            answers.append((answer.status_code, body.get("code"), body.get("seq")))
        return answers

    def match(self) -> dict[str, object]:
        """The match as the API shows it, without the present time."""
        found: dict[str, object] = self.http.get("/api/matches/1").json()
        return {name: value for name, value in found.items() if name != "clock"}


@contextmanager
def visit(served: Served) -> Iterator[Visitor]:
    with httpx.Client(base_url=served.url, trust_env=False, timeout=30) as http:
        yield Visitor(http)


def wait_until_published(served: Served) -> None:
    """Wait until all leaves of all logs are published."""
    with served.client() as client:

        def is_published() -> bool:
            sizes = [one.size for one in read_published_sizes(client, SHARDS)]
            return sizes == [client.xlen(keys.log(shard)) for shard in range(SHARDS)]

        until(is_published, 60)


def put_back(folder: Path) -> None:
    """Replace the data by an earlier copy, and leave the object store as it is."""
    shutil.rmtree(folder / "data" / "valkey")
    shutil.copytree(folder / "copy", folder / "data" / "valkey")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path / "data", ENV) as served:
        served.do("signup alice yes-we-can", "signup bob yes-we-can", "pow2 challenge alice bob")
        wait_until_published(served)
        served.end()
        shutil.copytree(tmp_path / "data" / "valkey", tmp_path / "copy")
        served.start()
        yield served


@pytest.mark.slow
def test_data_of_another_history_are_closed_and_shown_and_nothing_is_signed(served, tmp_path):
    data = tmp_path / "data"
    with visit(served) as visitor:
        outcomes, published = visitor.play(), visitor.match()
    wait_until_published(served)
    served.end()
    put_back(tmp_path)
    # a server that does not know the published log plays on
    for name in ("log", "keys"):
        shutil.move(data / name, tmp_path / name)
    with Served(data, ENV) as other, visit(other) as visitor:
        visitor.play((("alice", "m13-j7"), ("alice", "m13-j7"), ("bob", "m1-m5")))
        state = visitor.match()
    for name in ("log", "keys"):
        shutil.rmtree(data / name, ignore_errors=True)
        shutil.move(tmp_path / name, data / name)
    checkpoint = (data / "log" / "s01" / "checkpoint").read_bytes()
    served.start()
    with served.client() as client:
        until(lambda: 1 in ClosedShards(client).read(range(SHARDS)), 60)
        assert ClosedShards(client).read([1])[1].kind is ClosedKind.FORKED
    with visit(served) as visitor:
        assert visitor.match() == state
        assert visitor.play((("alice", "m13-m9"),))[0][:2] == (503, "unavailable")
        assert visitor.http.get("/readyz").status_code == 503
    assert "shard 1 is closed: leaf 1 in the data is not the one" in served.run("doctor").stdout
    assert (data / "log" / "s01" / "checkpoint").read_bytes() == checkpoint
    shown = served.run("log", "discard", "1")
    assert "leaves 1 to 3 of the data are discarded, of the matches 1" in shown.stdout, shown.stderr
    assert served.run("log", "discard", "0", "--yes").returncode == 1
    assert served.run("log", "discard", "1", "--yes").returncode == 0
    with served.client() as client:
        until(lambda: not ClosedShards(client).read(range(SHARDS)), 90)
    with visit(served) as visitor:
        assert visitor.match() == published
        assert visitor.play() == outcomes
    assert "match 1 holds" in served.run("verify", "1").stdout
