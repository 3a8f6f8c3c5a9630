"""The client and `matchpost --url ... do ...`, against a real server."""

from collections.abc import Iterator

import httpx
import pytest

from infra.people.tokens import Scope
from infra.settings.settings import load
from services.app.context import App
from services.client import Client, ProblemError, client
from tests.helpers.served import Served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an API, where alice and bob have signed up and play board 1."""
    data = tmp_path_factory.mktemp("client") / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        for line in (
            "signup alice mad-hatter",
            "signup bob yes-we-can",
            "pow2 challenge alice bob",
        ):
            assert served.run("do", line).returncode == 0
        yield served


@pytest.fixture(scope="module")
def url(server: Served) -> str:
    return server.url


@pytest.fixture(scope="module")
def tokens(server: Served) -> dict[str, str]:
    with App(load({"data": server.data})) as parts:
        return {
            name: parts.tokens.issue(
                parts.accounts.id_of(name), "a test", [Scope.PLAY, Scope.READ]
            ).text
            for name in ("alice", "bob")
        }


def test_a_match_is_played_and_followed(url: str, tokens: dict[str, str]) -> None:
    with Client(url, tokens["alice"]) as alice, Client(url, tokens["bob"]) as bob:
        assert alice.move(1, "m13-j7", ply=0).accepted
        with pytest.raises(ProblemError) as refused:
            alice.move(1, "j7-m13")
        assert (refused.value.status, refused.value.code) == (409, "not-your-turn")
        assert bob.accept(1).seq == 3
        assert bob.command(1, {"do": "resign"}).seq == 4
        assert alice.match(1)["result"]["winners"] == [0]
        types = [event["type"] for event in alice.events(1)]
        assert types == ["match-proposed", "moved", "accepted", "resigned", "ended"]
        assert [event["seq"] for event in alice.events(1, 4)] == [4, 5]


def test_do_sends_the_token_that_proves_who_starts_a_match(
    server: Served, url: str, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "torere challenge alice bob"
    refused = server.run("--url", url, "do", line)
    assert (refused.returncode, refused.stderr[:14]) == (1, "unauthorized: ")
    monkeypatch.setitem(server.env, "MATCHPOST_TOKEN", tokens["bob"])
    done = server.run("--url", url, "do", line)
    assert done.returncode == 0, done.stderr
    assert "Dark (bob) challenges Light (alice)" in done.stdout
    board = int(done.stdout.split()[1].rstrip(","))
    with Client(url) as anybody:
        (first,) = anybody.get(f"/api/matches/{board}/events")
    with App(load({"data": server.data})) as parts:
        assert first["actor"] == parts.accounts.id_of("bob").hex()


def test_what_an_account_is_told_is_followed_over_broken_connections(
    url: str, tokens: dict[str, str]
) -> None:
    with Client(url, tokens["alice"]) as alice, Client(url, tokens["bob"]) as bob:
        last, nothing = next(bob._notices(""))
        assert nothing is None
        told = bob.notices(last)
        for text in ("one", "two"):
            alice.post("/api/matches/1/chat", {"text": text})
            notice = next(told)
            assert (notice["kind"], notice["board"]) == ("chat", 1)
            told.close()
            told = bob.notices(notice["id"])
        told.close()


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


def test_a_command_with_its_key_is_carried_out_once(url: str, tokens: dict[str, str]) -> None:
    with Client(url, tokens["alice"]) as alice:
        body = {"game": "line", "players": ["alice", "bob"]}
        board = alice.post("/api/matches", body)["board"]
        first = alice.move(board, "a1", key="once")
        assert alice.move(board, "a1", key="once") == first
        assert alice.match(board)["ply"] == 1


def test_a_line_is_carried_out(url: str) -> None:
    with Client(url) as client:
        assert "\npow2: " in client.do("games").text
        answer = client.do("pow2 show 999")
        assert (answer.code, answer.text) == (
            "unknown-board",
            "unknown-board: there is no match 999",
        )


def test_the_terminal_talks_to_a_server_elsewhere(server: Served, url: str) -> None:
    done = server.run("--url", url, "do", "pow2 show 1 --display=small")
    assert done.returncode == 0
    assert done.stdout.startswith("match 1: The Power of Two")
    for words in (["--url", url], [f"--url={url}"]):
        assert (
            server.run("do", *words, "pow2", "show", "1", "--display=small").stdout == done.stdout
        )
    refused = server.run("--url", url, "do", "pow2 show 999")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "unknown-board: there is no match 999\n"


def test_a_server_that_is_not_there_is_told(server: Served) -> None:
    done = server.run("--url", "http://127.0.0.1:9", "do", "help")
    assert done.returncode == 2
    assert done.stderr.startswith("unavailable: http://127.0.0.1:9 does not answer")
    assert server.run("--url", "http://127.0.0.1:9", "doctor").returncode == 2


def test_a_token_that_is_none_is_a_problem(url: str) -> None:
    with Client(url, "mp_nonsense") as client, pytest.raises(ProblemError) as refused:
        client.move(1, "m13-j7")
    assert refused.value.status == httpx.codes.UNAUTHORIZED
