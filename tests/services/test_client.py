"""The client, `matchpost --url ... do` and `matchpost watch`, against a server: matches, streams that break, texts for draws."""

import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

import httpx
import pytest

from infra.people.tokens import Scope
from infra.settings.settings import load
from services.app.context import App
from services.client import Client, ProblemError, Texts, client
from services.client.draw_texts import read_committing_line
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served
from tests.helpers.tcp_proxy import TcpProxy

GATHER = {"game": "powerdrain", "players": ["alice", "bob"], "terms": ["--gather"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an API, where alice and bob have signed up."""
    folder = tmp_path_factory.mktemp("client")
    env = {"MATCHPOST_HTTP": "127.0.0.1:0", "XDG_STATE_HOME": str(folder / "state")}
    with Served(folder / "data", env) as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can")
        yield served


@pytest.fixture(scope="module")
def tokens(server: Served) -> dict[str, str]:
    scopes = [Scope.PLAY, Scope.READ]
    with App(load({"data": server.data})) as app:
        accounts = {name: app.accounts.id_of(name) for name in ("alice", "bob")}
        return {
            name: app.tokens.issue(id_, "a test", scopes).text for name, id_ in accounts.items()
        }


@pytest.fixture
def alice(server: Served, tokens: dict[str, str], tmp_path: Path) -> Iterator[Client]:
    with Client(server.url, tokens["alice"], texts=Texts(tmp_path / "alice")) as client:
        yield client


@pytest.fixture
def bob(server: Served, tokens: dict[str, str], tmp_path: Path) -> Iterator[Client]:
    with Client(server.url, tokens["bob"], texts=Texts(tmp_path / "bob")) as client:
        yield client


def new_match(alice: Client) -> int:
    return int(alice.post("/api/matches", {"game": "pow2", "players": ["alice", "bob"]})["board"])


def test_a_match_is_played_and_followed(server: Served, alice: Client, bob: Client) -> None:
    board = new_match(alice)
    moved = alice.move(board, "m13-j7", ply=0, key="once")
    assert alice.move(board, "m13-j7", ply=0, key="once") == moved
    with pytest.raises(ProblemError) as refused:
        alice.move(board, "j7-m13")
    assert (refused.value.status, refused.value.code) == (409, "not-your-turn")
    assert bob.accept(board).seq == 3
    assert bob.command(board, {"do": "resign"}).seq == 4
    assert alice.match(board)["result"]["winners"] == [0]
    events = list(alice.events(board))
    assert [event["type"] for event in events] == [
        "match-proposed", "moved", "accepted", "resigned", "ended",
    ]  # fmt: skip
    assert list(alice.events(board, 4)) == events[3:]
    # and by the terminal
    shown = server.run("--url", server.url, "do", f"pow2 show {board} --display=small")
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"match {board}: The Power of Two")
    words = (f"--url={server.url}", "pow2", "show", str(board), "--display=small")
    assert server.run("do", *words).stdout == shown.stdout
    refused = server.run("--url", server.url, "do", "pow2 show 999")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "unknown-board: there is no match 999\n"


class Breaking(httpx.BaseTransport):
    """Answers with these streams, one a connection, and then with a problem."""

    def __init__(self, *streams: str) -> None:
        self.asked: list[str | None] = []
        self._streams = iter(streams)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.headers.get("Last-Event-ID"))
        body = next(self._streams, None)
        if body is None:
            return httpx.Response(401, json={"code": "unauthorised", "detail": "it has ended"})
        return httpx.Response(200, text=body)


def test_a_stream_that_breaks_goes_on_after_its_last_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.time, "sleep", lambda _: None)
    wire = Breaking(
        ': still here\nid: 5-0-0--\nevent: hello\ndata: {"board":0}\n\n',
        'id: 5-0-0--\nevent: gap\ndata: {"since":7}\n\n: still here\n\n'
        'id: 7-1-0-chat\nevent: chat\ndata: {"board":1,"kind":"chat"}\n\n',
    )
    with Client("http://test.example", "token") as following:
        following._http = httpx.Client(base_url="http://test.example", transport=wire)
        told = following.notices()
        assert next(told) == {"id": "5-0-0--", "kind": "gap", "since": 7}
        assert next(told) == {"id": "7-1-0-chat", "kind": "chat", "board": 1}
        with pytest.raises(ProblemError):
            next(told)
    assert wire.asked == [None, "5-0-0--", "7-1-0-chat"]


def test_a_server_that_is_not_there_is_told(server: Served) -> None:
    done = server.run("--url", "http://127.0.0.1:9", "do", "help")
    assert done.returncode == 2
    assert done.stderr.startswith("unavailable: http://127.0.0.1:9 does not answer")
    assert server.run("--url", "http://127.0.0.1:9", "doctor").returncode == 2


# `matchpost watch`, over a connection that breaks


@pytest.fixture
def proxy(server: Served) -> Iterator[TcpProxy]:
    """A connection to the server that the test can break."""
    host, _, port = server.url.removeprefix("http://").rstrip("/").partition(":")
    with TcpProxy(host, int(port)) as proxy:
        yield proxy


@contextmanager
def watch(
    server: Served, proxy: TcpProxy, *words: str, token: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """A running `matchpost watch` that has said that it is connected."""
    env = {**server.env, "MATCHPOST_URL": proxy.url, "MATCHPOST_TOKEN": token}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # for the child to inherit
    process = subprocess.Popen(
        [SCRIPT, "watch", *words],
        env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    with process:
        try:
            assert read(process.stderr) == f"{proxy.url}: connected"
            yield process
        finally:
            process.kill()


def read(stream: IO[str] | None) -> str:
    """The next line, which is waited for."""
    assert stream is not None
    return stream.readline().rstrip("\n")


def news(process: subprocess.Popen[str]) -> str:
    """The next line on standard output, less its time."""
    date, time, zone, text = read(process.stdout).split(" ", 3)
    assert (len(date), len(time), zone) == (10, 5, "UTC")
    return text


def lose(proxy: TcpProxy, process: subprocess.Popen[str]) -> None:
    proxy.refuse()
    assert read(process.stderr).startswith(f"{proxy.url}: the connection is lost (")


def find_again(proxy: TcpProxy, process: subprocess.Popen[str]) -> None:
    proxy.accept()
    assert read(process.stderr) == f"{proxy.url}: connected"


@pytest.mark.long
def test_a_guest_follows_a_match_to_its_end_over_a_break(server, proxy, alice, bob):
    board = new_match(alice)
    with watch(server, proxy, str(board), "--until-over") as watching:
        alice.move(board, "m13-j7")
        assert news(watching) == (
            f"match {board}, #1: Light (alice) played m13-j7; it is Dark's turn (bob)"
        )
        lose(proxy, watching)
        bob.move(board, "a13-d7")
        alice.command(board, {"do": "offer", "kind": "draw"})
        find_again(proxy, watching)
        assert news(watching).startswith(f"match {board}, #2: Dark (bob) played a13-d7")
        assert news(watching) == f"match {board}, #2: Light (alice) offers a draw"
        bob.command(board, {"do": "resign"})
        assert news(watching) == f"match {board}, #2: Dark (bob) resigned"
        assert "the match is over: Light (alice) won" in news(watching)
        assert watching.wait(60) == 0
        assert read(watching.stdout) == ""


def test_an_account_follows_its_news_over_a_break_until_a_ctrl_c(server, proxy, alice, bob, tokens):
    with watch(server, proxy, token=tokens["bob"]) as watching:
        board = new_match(alice)
        assert news(watching).startswith(
            f"challenged: match {board}, #0: Light (alice) challenges Dark (bob) to "
        )
        lose(proxy, watching)
        alice.move(board, "m13-j7")
        alice.post(f"/api/matches/{board}/chat", {"text": "good luck"})
        find_again(proxy, watching)
        assert news(watching) == (
            f"your-turn: match {board}, #1: Light (alice) played m13-j7; it is Dark's turn (bob)"
        )
        assert news(watching) == f"chat: somebody wrote in the chat of match {board}"
        bob.move(board, "a13-d7")
        alice.command(board, {"do": "resign"})
        assert news(watching).startswith(f"over: match {board}, #2: the match is over")
        watching.send_signal(signal.SIGINT)
        assert watching.wait(60) == 0
        assert read(watching.stdout) == ""


# texts for draws


def test_what_is_kept_is_for_nobody_else_to_read_and_survives_a_client_that_ends(
    server: Served, alice: Client, bob: Client, tmp_path: Path
) -> None:
    board = alice.start(GATHER, word="luck").board
    (file,) = (tmp_path / "alice").glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.stem == alice.match(board)["draw"]["commitments"][0]
    bob.accept(board)
    assert alice.match(board)["draw"]["revealed"] == [1]
    with Client(server.url, texts=Texts(tmp_path / "alice")) as later:
        later.do("games")
    assert alice.match(board)["draw"] is None
    assert list((tmp_path / "alice").iterdir()) == []


def test_a_text_that_its_match_will_not_ask_for_is_forgotten(
    alice: Client, bob: Client, tmp_path: Path
) -> None:
    with pytest.raises(ProblemError):
        alice.start({**GATHER, "players": ["alice", "nobody"]})
    assert list((tmp_path / "alice").iterdir()) == []
    board = alice.start(GATHER).board
    bob.command(board, {"do": "decline"})
    assert len(list((tmp_path / "alice").iterdir())) == 1
    alice.do("games")
    assert list((tmp_path / "alice").iterdir()) == []


@pytest.mark.parametrize(("line", "found"), [
    ("powerdrain move 17 bob pass accept", ("powerdrain move 17 bob pass accept", "", 17)),
    ("Powerdrain MOVE 17 bob pass ACCEPT --entropy=luck", ("Powerdrain MOVE 17 bob pass ACCEPT", "luck", 17)),
    ("powerdrain challenge -p alice bob --entropy=luck --gather", ("powerdrain challenge -p alice bob --gather", "luck", None)),
    ("powerdrain challenge alice bob", None),
    ("powerdrain move 17 bob pass accept --commitment=00", None),
    ("powerdrain move 17 bob pass acceptable", None),
    ("multiple\npowerdrain move 17 bob pass accept", None),
    ("pow2 move 1 bob pass m13-j7", None),
])  # fmt: skip
def test_lines_that_commit_are_known(line: str, found: tuple | None) -> None:
    said = read_committing_line(line)
    assert (said and (said.line, said.word, said.board)) == found


def types(client: Client, board: int) -> list[str]:
    return [event["type"] for event in client.get(f"/api/matches/{board}/events")]


def test_a_line_without_userid_and_password_commits_too(alice: Client, bob: Client) -> None:
    challenge = alice.do("powerdrain challenge alice bob --gather", signs=True)
    board = int(challenge.text.split()[1].rstrip(","))
    assert alice.match(board)["draw"]["phase"] == "commit"
    said = bob.do(f"powerdrain move {board} accept --entropy=luck", signs=True)
    assert "accepted and committed to a text for the deal" in said.text
    alice.do("games")
    events = alice.get(f"/api/matches/{board}/events")
    (body,) = [event["body"] for event in events if event["type"] == "match-started"]
    assert bytes.fromhex(body["draw"]["texts"][1])[32:] == sha256(b"luck").digest()


def test_to_an_open_challenge_with_a_sealed_deal_both_commit(alice: Client, bob: Client) -> None:
    made = alice.open({"game": "powerdrain", "terms": ["--gather"]})
    assert "--gather" in made["terms"]
    board = bob.take(made["id"])["board"]
    assert types(bob, board) == ["called", "sealed", "revealed"]
    alice.do("games")
    assert types(bob, board)[-1] == "match-started"
    # where nothing is gathered nothing is committed to
    plain = alice.post("/api/challenges", {"game": "pow2"})
    assert types(bob, bob.take(plain["id"])["board"]) == ["match-started"]
