"""Two web processes on one socket: moves, pages and streams at both, and the metrics of each."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from bench.workload import games
from tests.helpers.served import Served, until

pytestmark = pytest.mark.slow

_COUNTED = re.compile(
    r'^matchpost_http_requests_total\{.*route="/healthz".*\} (\S+)$', re.MULTILINE
)


class Two(NamedTuple):
    served: Served
    metrics: int
    """The port of the first process's metrics; the second has the next."""


def first_of_free_ports(count: int) -> int:
    """Return a port that is free, and so are those after it."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as free, ExitStack() as stack:
            port = free.getsockname()[1]
            try:
                for number in range(1, count):
                    stack.enter_context(socket.create_server(("127.0.0.1", port + number)))
            except OSError:
                continue
            return int(port)


def serve_two(folder: Path) -> tuple[Served, int]:
    port = first_of_free_ports(8)
    env = {
        "MATCHPOST_HTTP": "127.0.0.1:0",
        "MATCHPOST_WEB": "2",
        "MATCHPOST_WORKERS": "1",
        "MATCHPOST_METRICS": f"127.0.0.1:{port}",
        "MATCHPOST_ADDRESS_RATE": "100000",
    }
    return Served(folder / "data", env), port


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    served, port = serve_two(tmp_path_factory.mktemp("two"))
    with served:
        yield Two(served, port)


@pytest.fixture
def clients(two: Two) -> Iterator[list[httpx.Client]]:
    """A client at each process: its connection stays there."""
    found = clients_of_both(two)
    yield found
    for client in found:
        client.close()


def clients_of_both(two: Two) -> list[httpx.Client]:
    until(lambda: None not in counts(two), 60)
    found: dict[int, httpx.Client] = {}

    def both() -> bool:
        client = httpx.Client(base_url=two.served.url, trust_env=False, timeout=30)
        before = counts(two)
        assert client.get("/healthz").status_code == 200
        (where,) = [n for n, count in enumerate(counts(two)) if count != before[n]]
        if where in found:
            client.close()
        else:
            found[where] = client
        return len(found) == 2

    until(both, 60)
    return [found[0], found[1]]


def counts(two: Two) -> list[float | None]:
    """How many requests each process has answered at /healthz; None where it does not run yet."""
    return [_count(two.metrics + number) for number in range(2)]


def _count(port: int) -> float | None:
    try:
        text = scraped(port)
    except httpx.HTTPError:
        return None
    return sum(map(float, _COUNTED.findall(text)))


def token(client: httpx.Client, name: str) -> dict[str, str]:
    body = {"userid": name, "password": "sing-along"}
    assert client.post("/api/accounts", json=body).status_code == 201
    wanted = {**body, "label": "both", "scopes": ["play", "read"]}
    text = client.post("/api/tokens", json=wanted).json()["token"]
    return {"Authorization": f"Bearer {text}"}


def start(client: httpx.Client, headers: dict[str, str], *names: str) -> int:
    body = {"game": "pow2", "players": names}
    made = client.post("/api/matches", json=body, headers=headers)
    assert made.status_code == 201, made.text
    return int(made.json()["board"])


def move(client: httpx.Client, board: int, text: str, headers: dict[str, str]) -> None:
    path = f"/api/matches/{board}/commands"
    done = client.post(path, json={"do": "move", "move": text}, headers=headers)
    assert done.status_code == 200, done.text


def test_moves_tokens_and_pages_go_to_either_process(clients):
    alice, bob = token(clients[0], "alice"), token(clients[1], "bob")
    board = start(clients[1], alice, "alice", "bob")
    at = cycle(clients)
    for number, headers in enumerate((alice, bob, alice, bob)):
        text = games(1)[0].moves[number]
        move(next(at), board, text, headers)
        for client in clients:  # what one has answered the other has, too
            shown = client.get(f"/api/matches/{board}").json()
            assert shown["moves"][-1] == text
            assert client.get(f"/m/{board}").status_code == 200


def test_each_process_shows_its_work_at_a_port_of_its_own(two, clients):
    """In the order of docs/monitoring.md; one of the web processes comes with the figures of all."""
    token(clients[0], "frank")
    start(clients[0], token(clients[0], "grace"), "grace", "frank")
    names = ["web-1", "web-2", "scheduler", "worker-1", "side", "publisher"]
    ports = [two.metrics + at for at in range(len(names))]
    until(lambda: all(map(answers, ports)))
    until(lambda: 'matchpost_role_processes{role="side"} 1.0' in scraped(ports[0]))
    until(lambda: re.search(r"durable_write_seconds_count [1-9]", scraped(ports[2])))
    until(lambda: all("matchpost_process_info{" in scraped(port) for port in ports))
    pages = list(map(scraped, ports))
    found = [re.findall(r'matchpost_process_info{name="([\w-]+)"', page) for page in pages]
    assert found == [[name] for name in names]
    by_name = dict(zip(names, pages, strict=True))
    decided = [name for name in names if 'accepted_total{command="start"}' in by_name[name]]
    assert decided == ["worker-1"]
    for name in ("web-1", "web-2", "scheduler"):
        assert 'matchpost_role_processes{role="side"} 1.0' in by_name[name]
        assert "matchpost_moves_accepted 1.0" in by_name[name]
        assert 'matchpost_server_up{node="socket",server="queue"} 1.0' in by_name[name]
    assert "matchpost_role_processes" not in by_name["publisher"]


def answers(port: int) -> bool:
    """Return whether a process serves its metrics there already."""
    try:
        return bool(scraped(port))
    except httpx.HTTPError:
        return False


def scraped(port: int) -> str:
    return httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False, timeout=60).text


def test_a_stream_hears_of_moves_at_the_other_and_resumes_there(clients):
    dave, erin = token(clients[0], "dave"), token(clients[1], "erin")
    board = start(clients[0], dave, "dave", "erin")
    path, accept = f"/api/matches/{board}/events", {"Accept": "text/event-stream"}
    with clients[0].stream("GET", path, headers=accept) as answer:
        lines = (line for line in answer.iter_lines() if line.startswith("id: "))
        assert next(lines) == "id: 1"
        move(clients[1], board, "m13-j7", dave)
        assert next(lines) == "id: 2"
    with clients[1].stream("GET", path, headers={**accept, "Last-Event-ID": "2"}) as answer:
        lines = (line for line in answer.iter_lines() if line.startswith("id: "))
        with httpx.Client(base_url=clients[0].base_url, trust_env=False, timeout=30) as elsewhere:
            move(elsewhere, board, "a13-d7", erin)
        assert next(lines) == "id: 3"
