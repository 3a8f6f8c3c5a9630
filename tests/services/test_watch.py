"""`matchpost watch`, against a real server over a connection that breaks."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Thread
from typing import IO

import pytest

from infra.people.tokens import Scope
from infra.settings.settings import load
from services.app.context import App
from services.client import Client
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served
from tests.helpers.tcp_proxy import TcpProxy


class Lines:
    """The lines of a stream, read by a thread."""

    def __init__(self, stream: IO[str] | None) -> None:
        assert stream is not None
        self._stream = stream
        self._lines: Queue[str] = Queue()
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def next(self) -> str:
        return self._lines.get(timeout=60)

    def rest(self) -> list[str]:
        """The lines up to the end of the stream."""
        self._thread.join(60)
        return [self._lines.get() for _ in range(self._lines.qsize())]

    def _read(self) -> None:
        with self._stream:
            for line in self._stream:
                self._lines.put(line.rstrip("\n"))


class Watching:
    """A running `matchpost watch`, and the lines that it prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines = Lines(process.stdout)
        self.notes = Lines(process.stderr)

    def line(self) -> str:
        """The next line on standard output."""
        return self.lines.next()

    def note(self) -> str:
        """The next line on standard error."""
        return self.notes.next()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an API, where alice and bob have signed up."""
    data = tmp_path_factory.mktemp("watch") / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can")
        yield served


@pytest.fixture(scope="module")
def tokens(server: Served) -> dict[str, str]:
    with App(load({"data": server.data})) as parts:
        return {
            name: parts.tokens.issue(
                parts.accounts.id_of(name), "a test", [Scope.PLAY, Scope.READ]
            ).text
            for name in ("alice", "bob")
        }


@pytest.fixture
def proxy(server: Served) -> Iterator[TcpProxy]:
    """A connection to the server that the test can break."""
    host, _, port = server.url.removeprefix("http://").rstrip("/").partition(":")
    with TcpProxy(host, int(port)) as proxy:
        yield proxy


@pytest.fixture
def alice(server: Served, tokens: dict[str, str]) -> Iterator[Client]:
    with Client(server.url, tokens["alice"]) as client:
        yield client


@pytest.fixture
def bob(server: Served, tokens: dict[str, str]) -> Iterator[Client]:
    with Client(server.url, tokens["bob"]) as client:
        yield client


@contextmanager
def watch(server: Served, proxy: TcpProxy, *words: str, token: str = "") -> Iterator[Watching]:
    env = {**server.env, "MATCHPOST_URL": proxy.url, "MATCHPOST_TOKEN": token}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # for the child to inherit
    process = subprocess.Popen(
        [SCRIPT, "watch", *words],
        env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    watching = Watching(process)
    try:
        assert watching.note() == f"{proxy.url}: connected"
        yield watching
    finally:
        process.kill()
        process.wait(60)
        watching.lines.rest()
        watching.notes.rest()


def new_match(alice: Client) -> int:
    return int(alice.post("/api/matches", {"game": "pow2", "players": ["alice", "bob"]})["board"])


def after_date(line: str) -> str:
    date, time, zone, text = line.split(" ", 3)
    assert (len(date), len(time), zone) == (10, 5, "UTC")
    return text


@pytest.mark.long
def test_a_guest_follows_a_match_to_its_end_over_a_break(
    server: Served, proxy: TcpProxy, alice: Client, bob: Client
) -> None:
    board = new_match(alice)
    with watch(server, proxy, str(board), "--until-over") as watching:
        alice.move(board, "m13-j7")
        assert after_date(watching.line()) == (
            f"match {board}, #1: Light (alice) played m13-j7; it is Dark's turn (bob)"
        )
        proxy.refuse()
        assert watching.note().startswith(f"{proxy.url}: the connection is lost (")
        bob.move(board, "a13-d7")
        alice.command(board, {"do": "offer", "kind": "draw"})
        proxy.accept()
        assert watching.note() == f"{proxy.url}: connected"
        assert after_date(watching.line()).startswith(
            f"match {board}, #2: Dark (bob) played a13-d7"
        )
        assert after_date(watching.line()) == f"match {board}, #2: Light (alice) offers a draw"
        bob.command(board, {"do": "resign"})
        assert after_date(watching.line()) == f"match {board}, #2: Dark (bob) resigned"
        assert "the match is over: Light (alice) won" in watching.line()
        assert watching.process.wait(60) == 0
        assert watching.lines.rest() == []


def test_the_objects_are_the_events_of_the_api(
    server: Served, proxy: TcpProxy, alice: Client, bob: Client
) -> None:
    first, second = new_match(alice), new_match(alice)
    with watch(server, proxy, str(first), str(second), "--json", "--until-over") as watching:
        for board in (first, second):
            alice.move(board, "m13-j7")
            bob.command(board, {"do": "resign"})
        assert watching.process.wait(60) == 0
        found = [json.loads(line) for line in watching.lines.rest()]
    for board in (first, second):
        events = alice.get(f"/api/matches/{board}/events", **{"from": 2})
        assert [one for one in found if one["board"] == board] == [
            {"board": board, **event} for event in events
        ]


def test_an_account_follows_its_news_over_a_break_until_a_ctrl_c(
    server: Served, proxy: TcpProxy, alice: Client, bob: Client, tokens: dict[str, str]
) -> None:
    with watch(server, proxy, token=tokens["bob"]) as watching:
        board = new_match(alice)
        assert after_date(watching.line()).startswith(
            f"challenged: match {board}, #0: Light (alice) challenges Dark (bob) to "
        )
        proxy.refuse()
        assert watching.note().startswith(f"{proxy.url}: the connection is lost (")
        alice.move(board, "m13-j7")
        alice.post(f"/api/matches/{board}/chat", {"text": "good luck"})
        proxy.accept()
        assert watching.note() == f"{proxy.url}: connected"
        assert after_date(watching.line()) == (
            f"your-turn: match {board}, #1: Light (alice) played m13-j7; it is Dark's turn (bob)"
        )
        assert after_date(watching.line()) == f"chat: somebody wrote in the chat of match {board}"
        bob.move(board, "a13-d7")
        alice.command(board, {"do": "resign"})
        assert after_date(watching.line()).startswith(f"over: match {board}, #2: the match is over")
        watching.process.send_signal(signal.SIGINT)
        assert watching.process.wait(60) == 0
        assert watching.lines.rest() == []


def test_news_as_objects(
    server: Served, proxy: TcpProxy, alice: Client, tokens: dict[str, str]
) -> None:
    with watch(server, proxy, "--json", token=tokens["bob"]) as watching:
        board = new_match(alice)
        news = json.loads(watching.line())
        at = news.pop("at")
        assert news == {
            "id": f"{at}-{board}-1-challenged", "kind": "challenged", "board": board, "seq": 1,
        }  # fmt: skip


def test_a_match_that_is_over_has_no_news(
    server: Served, proxy: TcpProxy, alice: Client, bob: Client
) -> None:
    board = new_match(alice)
    bob.command(board, {"do": "decline"})
    with watch(server, proxy, str(board), "--until-over") as watching:
        assert watching.process.wait(60) == 0
        assert watching.lines.rest() == []


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("watch", "999"), "unknown-board", 1),
        (("watch", "one"), "unknown-board", 1),
        (("watch", "--until-over"), "usage", 1),
        (("watch",), "unauthorized", 1),
    ],
)
def test_what_can_not_be_watched_is_refused(
    server: Served, words: tuple[str, ...], code: str, exit_code: int
) -> None:
    done = server.run("--url", server.url, *words)
    assert (done.returncode, done.stdout) == (exit_code, "")
    assert done.stderr.startswith(f"{code}: ")


def test_a_server_that_is_not_there_ends_it(server: Served) -> None:
    done = server.run("--url", "http://127.0.0.1:9", "watch", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("unavailable: http://127.0.0.1:9 does not answer")


@pytest.mark.long
def test_a_token_that_is_ended_ends_it(server: Served, proxy: TcpProxy, alice: Client) -> None:
    body = {"userid": "bob", "password": "yes-we-can", "label": "short", "scopes": ["read"]}
    token = alice.post("/api/tokens", body)
    with watch(server, proxy, token=token["token"]) as watching:
        with Client(server.url, token["token"]) as client:
            client.delete(f"/api/tokens/{token['id']}")
        proxy.refuse()
        proxy.accept()
        assert watching.process.wait(60) == 1
        notes = watching.notes.rest()
    assert notes[-1].startswith("unknown-token: ")
