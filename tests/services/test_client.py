"""The client and `matchpost --url ... do ...`, against a server: matches, streams, and texts for draws."""

import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from infra.people.tokens import Scope
from infra.settings.settings import load
from services.app.context import App
from services.client import Client, ProblemError, Texts, client
from services.client.draw_texts import read_committing_line
from tests.helpers.served import Served

GATHER = {"game": "powerdrain", "players": ["alice", "bob"], "terms": ["--gather"]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an API, where alice and bob have signed up and play board 1."""
    folder = tmp_path_factory.mktemp("client")
    env = {"MATCHPOST_HTTP": "127.0.0.1:0", "XDG_STATE_HOME": str(folder / "state")}
    with Served(folder / "data", env) as served:
        for line in (
            "signup alice mad-hatter",
            "signup bob yes-we-can",
            "pow2 challenge alice bob",
        ):
            assert served.run("do", line).returncode == 0
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


def far(server: Served, line: str, *flags: str) -> str:
    done = server.run("--url", server.url, "do", *flags, line)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kept(server: Served) -> list[Path]:
    folder = Path(server.env["XDG_STATE_HOME"]) / "matchpost" / "draws"
    return sorted(folder.glob("*.json"))


def types(client: Client, board: int) -> list[str]:
    return [event["type"] for event in client.get(f"/api/matches/{board}/events")]


def started(client: Client, board: int) -> dict:
    (event,) = [
        e for e in client.get(f"/api/matches/{board}/events") if e["type"] == "match-started"
    ]
    return dict(event["body"])


def test_a_match_is_played_and_followed(alice: Client, bob: Client) -> None:
    assert alice.move(1, "m13-j7", ply=0, key="once") == alice.move(1, "m13-j7", ply=0, key="once")
    with pytest.raises(ProblemError) as refused:
        alice.move(1, "j7-m13")
    assert (refused.value.status, refused.value.code) == (409, "not-your-turn")
    assert bob.accept(1).seq == 3
    assert bob.command(1, {"do": "resign"}).seq == 4
    assert alice.match(1)["result"]["winners"] == [0]
    events = list(alice.events(1))
    assert [event["type"] for event in events] == [
        "match-proposed", "moved", "accepted", "resigned", "ended",
    ]  # fmt: skip
    assert list(alice.events(1, 4)) == events[3:]


def test_do_sends_the_token_that_proves_who_starts_a_match(
    server: Served, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url
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
    alice: Client, bob: Client
) -> None:
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


def test_the_terminal_talks_to_a_server_elsewhere(server: Served) -> None:
    url = server.url
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


def test_a_line_and_a_token_that_are_none_are_refused(server: Served) -> None:
    with Client(server.url, "mp_nonsense") as client, pytest.raises(ProblemError) as refused:
        client.move(1, "m13-j7")
    assert refused.value.status == httpx.codes.UNAUTHORIZED
    with Client(server.url) as client:
        answer = client.do("pow2 show 999")
    assert (answer.code, answer.text) == ("unknown-board", "unknown-board: there is no match 999")


# texts for draws


@pytest.mark.long
def test_a_terminal_far_away_commits_keeps_its_text_and_reveals_it_by_itself(
    server: Served, alice: Client
) -> None:
    board = alice.start(GATHER).board
    assert alice.match(board)["draw"]["phase"] == "commit"
    assert alice.match(board)["waits_for"] == [1]
    said = far(server, f"powerdrain move {board} bob yes-we-can accept --entropy=luck")
    assert "accepted and committed to a text for the deal" in said
    # it has revealed its own at once, since all had committed; hers is revealed with her next call
    assert kept(server) == []
    found = alice.match(board)["draw"]
    assert (found["phase"], found["revealed"]) == ("reveal", [1])
    alice.do("games")
    assert types(alice, board) == [
        "deal-proposed", "committed", "sealed", "revealed", "revealed", "match-started",
    ]  # fmt: skip
    texts = started(alice, board)["draw"]["texts"]
    assert len(bytes.fromhex(texts[0])) == 32
    # the player's own word is in the text
    assert bytes.fromhex(texts[1])[32:] == sha256(b"luck").digest()
    verified = server.run("verify", str(board))
    assert verified.returncode == 0, verified.stderr
    assert "all players had committed to their texts before its seed was sealed;" in verified.stdout


def test_a_line_without_userid_and_password_commits_too(alice: Client, bob: Client) -> None:
    challenge = alice.do("powerdrain challenge alice bob --gather", signs=True)
    board = int(challenge.text.split()[1].rstrip(","))
    assert alice.match(board)["draw"]["phase"] == "commit"
    said = bob.do(f"powerdrain move {board} accept --entropy=luck", signs=True)
    assert "accepted and committed to a text for the deal" in said.text
    alice.do("games")
    texts = started(alice, board)["draw"]["texts"]
    assert bytes.fromhex(texts[1])[32:] == sha256(b"luck").digest()


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


@pytest.mark.long
def test_a_repetition_with_its_key_commits_to_the_same_text(
    server: Served, alice: Client, bob: Client
) -> None:
    first = alice.start(GATHER, key="once")
    assert alice.start(GATHER, key="once") == first
    done = bob.accept(first.board, key="twice")
    # though its text is revealed by then, and the match has gone on
    assert bob.accept(first.board, key="twice") == done
    alice.do("games")
    assert bob.accept(first.board, key="twice") == done
    assert alice.start(GATHER, key="once") == first
    assert alice.match(first.board)["state"] == "active"
    line = f"powerdrain move {alice.start(GATHER).board} bob yes-we-can accept"
    assert far(server, line, "--key", "k1") == far(server, line, "--key", "k1")


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


def test_the_text_of_a_command_that_is_refused_is_forgotten(alice: Client, tmp_path: Path) -> None:
    with pytest.raises(ProblemError):
        alice.start({**GATHER, "players": ["alice", "nobody"]})
    assert list((tmp_path / "alice").iterdir()) == []


def test_a_text_that_its_match_will_not_ask_for_is_forgotten(
    alice: Client, bob: Client, tmp_path: Path
) -> None:
    board = alice.start(GATHER).board
    bob.command(board, {"do": "decline"})
    assert len(list((tmp_path / "alice").iterdir())) == 1
    alice.do("games")
    assert list((tmp_path / "alice").iterdir()) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("powerdrain move 17 bob pass accept", ("powerdrain move 17 bob pass accept", "", 17)),
        (
            "Powerdrain MOVE 17 bob pass ACCEPT --entropy=luck",
            ("Powerdrain MOVE 17 bob pass ACCEPT", "luck", 17),
        ),
        (
            "powerdrain challenge -p alice bob --entropy=luck --gather",
            ("powerdrain challenge -p alice bob --gather", "luck", None),
        ),
        ("powerdrain challenge alice bob", None),
        ("powerdrain move 17 bob pass accept --commitment=00", None),
        ("powerdrain move 17 bob pass acceptable", None),
        ("multiple\npowerdrain move 17 bob pass accept", None),
        ("pow2 move 1 bob pass m13-j7", None),
    ],
)
def test_lines_that_commit_are_known(line: str, found: tuple | None) -> None:
    said = read_committing_line(line)
    assert (said and (said.line, said.word, said.board)) == found


def test_a_player_whose_userid_is_accept_commits_to_nothing_by_a_move() -> None:
    assert read_committing_line("powerdrain move 1 accept mad-hatter a1-b2") is None
    signed = read_committing_line("powerdrain move 1 accept", signs=True)
    assert (signed and signed.board) == 1
