"""Whole matches by every way in, on `matchpost serve` whose data are in a cluster or under sentinels."""

import random
import smtplib
from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from bench.free_ports import free_port
from domain.match.history import unpack_snapshot
from domain.match.state import MatchState, position_of
from domain.rules import rules_by_id
from infra.durability.durability import Mode
from infra.mail.addresses import FILE_NAME, ServerAddresses, read_secret
from infra.people.accounts import Accounts, MailAddress
from infra.store.redis_store import RedisStore
from infra.valkey.server import queue_server
from services.client import Client
from tests.fakes.sink import Sink
from tests.helpers.api import PASSWORD
from tests.helpers.clusters import Cluster, SentinelPair
from tests.helpers.mails import mail
from tests.helpers.served import Served, until
from tests.helpers.web import Guest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

DOMAIN = "play.example.org"
NAMES = ("alice", "bob")
GAME = "powerdrain"

NODES = {"cluster": ("cluster", Mode.FSYNC), "sentinels": ("sentinels", Mode.MANAGED)}

MISLED = {"CROSSSLOT", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "MASTERDOWN"}


class Nodes:
    """`serve` with its mail, whose data are on several servers."""

    def __init__(self, servers: Cluster | SentinelPair, served: Served, sink: Sink, port: int):
        self.servers = servers
        self.served = served
        self.sink = sink
        self.http = httpx.Client(base_url=served.url, trust_env=False, timeout=60)
        self._smtp = port
        self._addresses = ServerAddresses(read_secret(served.data / FILE_NAME), DOMAIN)
        with servers.client() as client:
            accounts = Accounts(client)
            for name in NAMES:
                self.api("POST", "/api/accounts", {"userid": name, "password": PASSWORD})
                own = (MailAddress(f"{name}@example.org", verified=True),)
                account = accounts.id_of(name)
                accounts.change_of(account, lambda one, own=own: replace(one, addresses=own))
            self._accounts = [accounts.id_of(name) for name in NAMES]
        self._tokens = [self._token(name) for name in NAMES]
        self._guests = [Guest(served) for _ in NAMES]  # type: ignore[arg-type]  # it has a `url`
        for guest, name in zip(self._guests, NAMES, strict=True):
            assert guest.log_in(name).status_code == 303
        self._clients = [Client(served.url, token) for token in self._tokens]

    def close(self) -> None:
        for one in [self.http, *self._guests, *self._clients]:
            getattr(one, "http", one).close()

    def api(self, method: str, path: str, body: Any = None, player: int | None = None) -> Any:
        """What the API answers to a request that it takes."""
        head = {} if player is None else {"Authorization": f"Bearer {self._tokens[player]}"}
        answer = self.http.request(method, path, json=body, headers=head)
        assert answer.is_success, answer.text
        return answer.json()

    def _token(self, name: str) -> str:
        body = {"userid": name, "password": PASSWORD, "label": "t", "scopes": ["read", "play"]}
        return str(self.api("POST", "/api/tokens", body)["token"])

    def state(self, board: int) -> MatchState:
        with self.servers.client() as client:
            (data,) = RedisStore(client, Mode.MANAGED).snapshots([board])
        return unpack_snapshot(data).state

    @property
    def ways(self) -> Mapping[str, Callable[[int, int, str], object]]:
        """How a player, by number, plays a move in a match."""
        return {
            "API": lambda player, board, move: self.api(
                "POST", f"/api/matches/{board}/commands", {"do": "move", "move": move}, player
            ),
            "web": lambda player, board, move: self._guests[player].move(board, move),
            "terminal": lambda player, board, move: self.served.do(
                f"{GAME} move {board} {NAMES[player]} {PASSWORD} {move}"
            ),
            "mail": self._mail,
            "client": lambda player, board, move: self._clients[player].move(board, move),
        }

    def _mail(self, player: int, board: int, move: str) -> None:
        to = self._addresses.of(board, player, self._accounts[player])
        sender, ply = f"{NAMES[player]}@example.org", self.state(board).ply
        with smtplib.SMTP("127.0.0.1", self._smtp, timeout=60) as client:
            client.sendmail(sender, to, mail(move, id_=f"<{board}.{ply}@example.org>"))


@pytest.fixture(
    scope="module", params=["cluster", pytest.param("sentinels", marks=pytest.mark.long)]
)
def nodes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Nodes]:
    fixture, mode = NODES[request.param]
    servers = request.getfixturevalue(fixture)
    servers.flush()
    folder: Path = tmp_path_factory.mktemp("nodes")
    port = free_port()
    with Sink() as sink, queue_server(folder / "queue") as queue:
        env = {
            "MATCHPOST_REDIS_URL": servers.url,
            "MATCHPOST_QUEUE_URL": queue.url,
            "MATCHPOST_DURABILITY": mode.value,
            "MATCHPOST_HTTP": "127.0.0.1:0",
            "MATCHPOST_SMTP": f"127.0.0.1:{port}",
            "MATCHPOST_RELAY": f"smtp://127.0.0.1:{sink.port}",
            "MATCHPOST_MAIL_DOMAIN": DOMAIN,
            "MATCHPOST_ROBOTS": "1",
            "MATCHPOST_WORKERS": "2",
            # it walks through all keys by SCAN, node by node, and is tested by itself
            "MATCHPOST_SCRUB_PERCENT": "0",
        }
        served = Served(folder / "data", env)
        assert served.run("keygen").returncode == 0
        with served:
            made = Nodes(servers, served, sink, port)
            yield made
            made.close()


@pytest.mark.long
def test_a_whole_match_is_played_by_every_way_in(nodes: Nodes) -> None:
    chance = random.Random(GAME)
    body = {"game": GAME, "players": list(NAMES)}
    board = nodes.api("POST", "/api/matches", body, 0)["board"]
    nodes.api("POST", f"/api/matches/{board}/commands", {"do": "accept"}, 1)
    turns = cycle(nodes.ways.items())
    while not (state := nodes.state(board)).over:
        legal = list(rules_by_id(state.rules).legal_moves(position_of(state)))
        assert state.next is not None
        way, play = next(turns)
        play(state.next, board, chance.choice(legal))
        assert nodes.state(board).ply == state.ply + 1, way
    assert state.ply > len(nodes.ways)
    ended = f"/api/matches?player={NAMES[0]}&state=inactive"
    until(lambda: board in [row["board"] for row in nodes.api("GET", ended)["matches"]])
    until(
        lambda: any(f"match {board}" in one["Subject"] for one in nodes.sink.to("bob@example.org"))
    )
    assert nodes.api("GET", f"/api/matches/{board}")["result"]


@pytest.mark.long
def test_a_robot_answers(nodes: Nodes) -> None:
    body = {"game": "torere", "players": ["robot-easy", NAMES[0]]}
    board = nodes.api("POST", "/api/matches", body, 0)["board"]
    until(lambda: nodes.state(board).ply)


@pytest.mark.long
def test_the_operator_s_commands_find_nothing(nodes: Nodes) -> None:
    for words in (["verify", "--all"], ["rebuild", "--check"]):
        done = nodes.served.run(*words)
        assert done.returncode == 0, (words, done.stdout + done.stderr)
    until(lambda: nodes.served.run("doctor").returncode == 0)
    until(lambda: "not yet" not in nodes.served.run("queue").stdout)


@pytest.mark.long
def test_no_command_went_to_a_wrong_node(nodes: Nodes) -> None:
    assert not nodes.servers.errors().keys() & MISLED
    assert not nodes.servers.commands() & {"scan", "keys"}
    log = (nodes.served.data.parent / "serve.log").read_text()
    assert "Traceback" not in log
