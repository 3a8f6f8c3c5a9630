"""The HTTP API in this process, on a real server: with a drain and a side worker beside it."""

import json
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias
from unittest.mock import patch

import httpx
import uvicorn
from argon2 import PasswordHasher
from litestar import Litestar
from redis import Redis
from redis.exceptions import RedisError

from infra.archive.store import StoreWithArchive
from infra.durability.durability import Mode
from infra.mail.account_changes import account_change_mailer
from infra.people.accounts import Accounts
from infra.people.tokens import Scope, Tokens
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.store.layout import initial_layout
from infra.store.leases import LaneLeases
from infra.store.redis_store import RedisStore
from infra.store.seed_chains import SeedChains
from infra.valkey.server import EmbeddedServer
from services.app.context import App
from services.http.api.openapi.document import make_document
from services.http.app import make_app, make_routes
from services.http.connections import ConnectionLimits, server_config
from services.http.context import DEFAULT_INTERVALS, TaskIntervals
from tests.fakes.app import CHEAP
from tests.fakes.memory_store import memory_client
from tests.helpers.clusters import Cluster, SentinelPair
from tests.helpers.conformance import Conformance
from tests.helpers.lanes import LANE
from workers.commands.drain import Drain
from workers.projections import worker
from workers.projections.worker import ProjectionWorker

DataServers: TypeAlias = EmbeddedServer | Cluster | SentinelPair
PASSWORD = "yes-we-can"

MANY = 1_000_000
"""A rate that no test comes near."""

ROOMY = ConnectionLimits(by_address=MANY)

LOOK_SECONDS = 0.25
"""How soon the side worker sees that it should stop."""

SHORT_LIVED = httpx.Limits(keepalive_expiry=2)
"""Connections are given up before the server closes them, which may meet the next request."""


def client_of(url: str, **options: Any) -> httpx.Client:
    """A client of a server on this machine; without TLS, whose context takes 25 ms to make."""
    given = {"limits": SHORT_LIVED, "timeout": 30, **options}
    return httpx.Client(base_url=url, trust_env=False, verify=False, **given)


_IDLE: list[Litestar] = []
"""The routes of servers that have ended."""


def _leave(routed: Litestar) -> None:
    """Keep routes for the next server, with nothing in them of this one."""
    routed.state.clear()
    _IDLE.append(routed)


class Api:
    """A web process's API, and all that works behind it; `with` starts and stops them.

    `url` is where it answers; `parts` is what it works with. The data are on an embedded server of its own,
    or on the `servers`, which are empty, with the server of the queue at a URL.
    """

    conformance: ClassVar[Conformance | None] = None
    """Made once a process, because all web processes have the same document."""

    def __init__(
        self,
        folder: Path,
        *,
        intervals: TaskIntervals = DEFAULT_INTERVALS,
        bounds: ConnectionLimits = ROOMY,
        hasher: PasswordHasher = CHEAP,
        servers: DataServers | None = None,
        **settings: Any,
    ) -> None:
        self._folder = folder
        self._servers = servers
        self._limits = bounds
        self._hasher = hasher
        self._intervals = intervals
        self._allocated = {"command_rate": MANY, "address_rate": MANY, "password_rate": MANY}
        self._allocated |= settings
        self._stack = ExitStack()
        self._stopping = Event()
        self._awake = Event()
        self._turning = Lock()
        self._numbers = iter(range(1, MANY))

    def __enter__(self) -> Self:
        self.server = self._servers or self._stack.enter_context(
            EmbeddedServer(self._folder / "data")
        )
        self.settings = Settings(
            data=self._folder / "data", redis_url=self.server.url, **self._allocated
        )
        client = self._stack.enter_context(self.server.client(blocking_timeout=5))
        RedisStore(client, Mode.FSYNC).create(initial_layout(client, 4, 1))
        rate = self.settings.password_rate
        told = account_change_mailer(client, self.settings.mail_domain)
        accounts = Accounts(client, self._hasher, password_rate=rate, notify=told)
        self.parts = self._stack.enter_context(App(self.settings, accounts=accounts))
        self._awake.set()
        self._work()
        self.url = self._listen()
        if Api.conformance is None:
            Api.conformance = Conformance(make_document(self.app._app))
        self.http = self._stack.enter_context(self.client())
        return self

    def __exit__(self, *_: object) -> None:
        self._awake.set()
        self._stopping.set()
        self._end_linger()
        self._stack.close()

    @contextmanager
    def asleep(self) -> Iterator[None]:
        self._awake.clear()
        self._end_linger()
        with self._turning:  # the turn in hand has ended
            pass
        try:
            yield
        finally:
            self._awake.set()

    def client(self, **options: Any) -> httpx.Client:
        """A client of the API that keeps its connections; the caller closes it.

        Every answer has to be one of those that the document promises.
        """
        assert Api.conformance is not None
        hooks = {"response": [Api.conformance.check]}
        return client_of(self.url, event_hooks=hooks, **options)

    @contextmanager
    def stream(
        self, path: str, player: "Player | None" = None, **headers: str
    ) -> Iterator[Iterator["Told"]]:
        """The server-sent events at a path as they come; headers are named with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"Accept": "text/event-stream"} | (player.headers if player else {})
        with self.client() as client, client.stream("GET", path, headers=sent) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield _told(answer.iter_lines())

    def player(self, scopes: Sequence[str] = tuple(Scope), *, name: str = "") -> "Player":
        """A player who has just signed up, with a token."""
        name = name or f"p{next(self._numbers)}"
        account = self.parts.accounts.signup(name, PASSWORD)
        self.parts.messages.mark_born(account)
        return Player(self, name, account, self.parts.tokens.issue(account, "rig", scopes).text)

    def player_of(self, name: str) -> "Player":
        """A player who signed up before, with another token."""
        account = self.parts.accounts.id_of(name)
        token = self.parts.tokens.issue(account, "rig", tuple(Scope)).text
        return Player(self, name, account, token)

    def expired_token(self) -> str:
        """The text of a token whose time has run out, of an account that is there."""
        day = 24 * 3_600_000
        # made by a clock that is two days behind, and kept for three
        past = Tokens(self.parts.data, lambda: self.parts.store.now() - 2 * day)
        account = self.parts.accounts.signup(f"p{next(self._numbers)}", PASSWORD)
        return past.issue(account, "old", ["read", "play", "account"], 1).text

    def players(self, count: int = 2) -> list["Player"]:
        """Players who have just signed up."""
        return [self.player() for _ in range(count)]

    def match(self, *players: "Player", game: str = "pow2", **more: Any) -> int:
        """Have the first of the players start a match, as one of any number; gives its board."""
        self.parts.starts.forget(players[0].account)
        names = [player.name for player in players]
        made = players[0].post("/api/matches", {"game": game, "players": names, **more})
        assert made.status_code == 201, made.text
        return int(made.json()["board"])

    def begun(self, *players: "Player", **more: Any) -> int:
        """Have the first of the players start a match that the others accept; gives its board."""
        board = self.match(*players, **more)
        for other in dict.fromkeys(players[1:]):
            other.accept(board)
        return board

    def caught_up(self) -> None:
        """Wait until the lists know everything there is."""
        with self.server.client(blocking_timeout=5) as client:
            side = ProjectionWorker(self._whole_store(client), client)
            deadline = time.monotonic() + 30
            while side.round() or side.has_work:
                assert time.monotonic() < deadline, "the side worker does not come to an end"

    def drain_silently(self) -> None:
        """Decide what waits, while the drain is asleep; no outcome is published."""
        with self.server.client() as client, self._queue() as queue, memory_client() as nobody:
            self._turn(client, queue, nobody, self._seeds(client))

    def _end_linger(self) -> None:
        """Have a drain that waits for commands look whether it should pause."""
        with self._surviving(), self._queue() as queue:
            LaneLeases(queue, [].append).request(LANE)

    def _work(self) -> None:
        self._stack.enter_context(patch.object(worker, "LOOK_SECONDS", LOOK_SECONDS))
        for work in (self._drain, self._side):
            thread = Thread(target=work, name=work.__name__)
            thread.start()
            self._stack.callback(thread.join)
            self._stack.callback(self._stopping.set)

    def _queue(self) -> Redis:
        """A client of the queue's server; the caller closes it."""
        return make_client(self.settings.queue_url or self.server.url, blocking_timeout=5)

    def _drain(self) -> None:
        """Work the lane, turn after turn."""
        with self.server.client(blocking_timeout=5) as client, self._queue() as queue:
            seeds = self._seeds(client)
            while not self._stopping.is_set():
                self._awake.wait()
                with self._surviving(), self._turning:
                    self._turn(client, queue, queue, seeds)

    def _seeds(self, client: Redis) -> SeedChains:
        return SeedChains(RedisStore(client, Mode.FSYNC), self._folder / "seeds")

    @contextmanager
    def _surviving(self) -> Iterator[None]:
        """Go on when the server is away, as a worker that is started again does."""
        try:
            yield
        except RedisError:
            self._stopping.wait(0.05)

    def _turn(self, client: Redis, queue: Redis, waiting: Redis, seeds: SeedChains) -> None:
        store, lanes = RedisStore(client, Mode.FSYNC), LaneLeases(queue, [].append)
        Drain(
            store, lanes, waiting, LANE, self._pausing, seeds=seeds, data=client, linger=1.0
        ).run()

    def _pausing(self) -> bool:
        return self._stopping.is_set() or not self._awake.is_set()

    def _whole_store(self, client: Redis) -> StoreWithArchive:
        """The store of a side worker, which may come to a leaf of a match that has been retired."""
        return StoreWithArchive(client, Mode.FSYNC, self.parts.archive)

    def _side(self) -> None:
        with self.server.client(blocking_timeout=5) as client, self._queue() as queue:
            while not self._stopping.is_set():
                with self._surviving():
                    side = ProjectionWorker(self._whole_store(client), client, queue=queue)
                    side.run(self._stopping.is_set)

    def _listen(self) -> str:
        listening = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        routed = _IDLE.pop() if _IDLE else make_routes()
        self._stack.callback(_leave, routed)
        self.routes = routed.routes
        self.app = make_app(self.parts, self._intervals, routed=routed)
        behind_proxy = self.settings.trusted_proxy == "on"
        config = server_config(self.app, self._limits, behind_proxy=behind_proxy)
        config.timeout_graceful_shutdown = 1
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, name="web")
        thread.start()
        self._stack.callback(thread.join)
        self._stack.callback(setattr, server, "should_exit", True)
        until(lambda: server.started or not thread.is_alive())
        assert server.started, "the API did not start"
        return f"http://127.0.0.1:{listening.getsockname()[1]}"


class Told(NamedTuple):
    """A server-sent event, or a comment, which is all but empty."""

    id: str
    event: str
    data: Any
    comment: str


def _told(lines: Iterator[str]) -> Iterator[Told]:
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        data = json.loads(fields["data"]) if "data" in fields else None
        yield Told(fields.get("id", ""), fields.get("event", ""), data, fields.get("", ""))
        fields = {}


class Player:
    """A player of the API, with a token."""

    def __init__(self, api: Api, name: str, account: bytes, token: str) -> None:
        self.api = api
        self.name = name
        self.account = account
        self.token = token
        self.language = ""
        """What the player's program asks for; empty for nothing."""

    @property
    def headers(self) -> dict[str, str]:
        wish = {"Accept-Language": self.language} if self.language else {}
        return {"Authorization": f"Bearer {self.token}", **wish}

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self._request("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        return self._request("POST", path, json=body, **options)

    def put(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return self._request("PUT", path, json=body, **options)

    def patch(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return self._request("PATCH", path, json=body, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self._request("DELETE", path, **options)

    def line(self, text: str) -> str:
        """Send a command line, signed by the token in place of userid and password, and return the answer."""
        sent = self.api.http.post(
            "/api/do",
            content=text,
            headers={**self.headers, "Content-Type": "text/plain"},
            params={"signer": "token"},
        )
        return sent.text

    def give(self, board: int, body: Any, **options: Any) -> httpx.Response:
        return self.post(f"/api/matches/{board}/commands", body, **options)

    def accept(self, board: int) -> int:
        """Accept a match; gives its board number."""
        answer = self.give(board, {"do": "accept"})
        assert answer.is_success, answer.text
        return board

    def move(self, board: int, text: str, **options: Any) -> httpx.Response:
        return self.give(board, {"do": "move", "move": text}, **options)

    def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {**self.headers, **options.pop("headers", {})}
        return self.api.http.request(method, path, headers=headers, **options)


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.005)


def code_of(response: httpx.Response) -> str:
    """Give the code of a refusal, which has to be a sound problem document."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    body = response.json()
    assert sorted(body) == ["code", "detail", "status", "title", "type"]
    assert body["status"] == response.status_code
    assert body["type"] == f"/api/errors/{body['code']}"
    return str(body["code"])
