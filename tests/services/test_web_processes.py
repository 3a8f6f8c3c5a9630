"""Two web processes on one socket: moves, pages and streams at both, and the metrics of each."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial

import httpx
import pytest

from bench.free_ports import first_of_free_ports
from bench.workload import games
from tests.helpers.served import Served, until

pytestmark = pytest.mark.slow

NAMES = ("web-1", "web-2", "scheduler", "worker-1", "side", "publisher")
_COUNTED = re.compile(
    r'^matchpost_http_requests_total\{.*route="/healthz".*\} (\S+)$', re.MULTILINE
)


@pytest.fixture(scope="module")
def ports() -> list[int]:
    """The ports of metrics, of which the two web processes have the first."""
    first = first_of_free_ports(8)
    return [first + at for at in range(len(NAMES))]


@pytest.fixture(scope="module")
def clients(
    tmp_path_factory: pytest.TempPathFactory, ports: list[int]
) -> Iterator[list[httpx.Client]]:
    """A client at each of two processes: its connection stays there."""
    env = {
        "MATCHPOST_HTTP": "127.0.0.1:0", "MATCHPOST_WEB": "2", "MATCHPOST_WORKERS": "1",
        "MATCHPOST_METRICS": f"127.0.0.1:{ports[0]}", "MATCHPOST_ADDRESS_RATE": "100000",
    }  # fmt: skip
    with Served(tmp_path_factory.mktemp("two") / "data", env) as served, ExitStack() as stack:
        until(lambda: all(map(answers, ports[:2])), 60)
        found: dict[int, httpx.Client] = {}

        def both() -> bool:
            client = httpx.Client(base_url=served.url, trust_env=False, timeout=30)
            stack.callback(client.close)
            before = list(map(counted, ports[:2]))
            assert client.get("/healthz").status_code == 200
            (where,) = [at for at in (0, 1) if counted(ports[at]) != before[at]]
            found.setdefault(where, client)
            return len(found) == 2

        until(both, 60)
        yield [found[0], found[1]]


def counted(port: int) -> float:
    """How many requests a process has answered at /healthz."""
    return sum(map(float, _COUNTED.findall(scraped(port))))


def answers(port: int) -> bool:
    """Return whether a process serves its metrics there already."""
    try:
        return bool(scraped(port))
    except httpx.HTTPError:
        return False


def has_moves(port: int) -> bool:
    """Return whether a process with figures of the whole server has one for moves."""
    return bool(re.search("matchpost_moves_accepted [1-9]", scraped(port)))


def scraped(port: int) -> str:
    return httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False, timeout=60).text


def token(client: httpx.Client, name: str) -> dict[str, str]:
    body = {"userid": name, "password": "sing-along"}
    assert client.post("/api/accounts", json=body).status_code == 201
    wanted = {**body, "label": "both", "scopes": ["play", "read"]}
    text = client.post("/api/tokens", json=wanted).json()["token"]
    return {"Authorization": f"Bearer {text}"}


def begun(clients: Sequence[httpx.Client], *names: str) -> tuple[int, list[dict[str, str]]]:
    """Sign up two players, one at each process, and begin their match; return its board and their headers."""
    players = [token(client, name) for client, name in zip(clients, names, strict=True)]
    body = {"game": "pow2", "players": names}
    made = clients[1].post("/api/matches", json=body, headers=players[0])
    assert made.status_code == 201, made.text
    return int(made.json()["board"]), players


def move(client: httpx.Client, board: int, text: str, headers: dict[str, str]) -> None:
    path = f"/api/matches/{board}/commands"
    done = client.post(path, json={"do": "move", "move": text}, headers=headers)
    assert done.status_code == 200, done.text


def test_moves_tokens_pages_and_streams_go_to_either_process(clients):
    board, (alice, bob) = begun(clients, "alice", "bob")
    path, accept = f"/api/matches/{board}/events", {"Accept": "text/event-stream"}
    texts = games(1)[0].moves
    # a stream hears of moves at the other, and is resumed there
    with clients[0].stream("GET", path, headers=accept) as answer:
        lines = (line for line in answer.iter_lines() if line.startswith("id: "))
        assert next(lines) == "id: 1"
        move(clients[1], board, texts[0], alice)
        assert next(lines) == "id: 2"
    with clients[1].stream("GET", path, headers={**accept, "Last-Event-ID": "2"}) as answer:
        lines = (line for line in answer.iter_lines() if line.startswith("id: "))
        with httpx.Client(base_url=clients[0].base_url, trust_env=False, timeout=30) as elsewhere:
            move(elsewhere, board, texts[1], bob)
        assert next(lines) == "id: 3"
    for at, headers in ((2, alice), (3, bob)):
        move(clients[at % 2], board, texts[at], headers)
        for client in clients:  # what one has answered the other has, too
            shown = client.get(f"/api/matches/{board}").json()
            assert shown["moves"][-1] == texts[at]
            assert client.get(f"/m/{board}").status_code == 200


def test_each_process_shows_its_work_at_a_port_of_its_own(clients, ports):
    """In the order of docs/monitoring.md; one of the web processes comes with the figures of all."""
    board, (carol, _) = begun(clients, "carol", "dan")
    move(clients[0], board, games(1)[0].moves[0], carol)
    until(lambda: all(map(answers, ports)))
    until(lambda: 'matchpost_role_processes{role="side"} 1.0' in scraped(ports[0]))
    until(lambda: re.search(r"durable_write_seconds_count [1-9]", scraped(ports[2])))
    until(lambda: all("matchpost_process_info{" in scraped(port) for port in ports))
    for port in ports[:3]:
        until(partial(has_moves, port))
    pages = list(map(scraped, ports))
    found = [re.findall(r'matchpost_process_info{name="([\w-]+)"', page) for page in pages]
    assert found == [[name] for name in NAMES]
    by_name = dict(zip(NAMES, pages, strict=True))
    decided = [name for name in NAMES if 'accepted_total{command="start"}' in by_name[name]]
    assert decided == ["worker-1"]
    for name in ("web-1", "web-2", "scheduler"):
        assert 'matchpost_role_processes{role="side"} 1.0' in by_name[name]
        assert 'matchpost_server_up{node="socket",server="queue"} 1.0' in by_name[name]
    assert "matchpost_role_processes" not in by_name["publisher"]
