"""A game of another distribution is installed, played, taken away and installed again."""

from html import unescape
from pathlib import Path

import httpx
import pytest

from tests.helpers.sample_game import install
from tests.helpers.served import Served, until

KEPT = "the game 'tictactoe' is not installed on this server; its matches are kept, and continue once it is installed"


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    """A folder in which the sample game is installed."""
    return install(tmp_path_factory.mktemp("packages"))


def server(data: Path, packages: Path | None = None) -> Served:
    path = {"PYTHONPATH": str(packages)} if packages else {}
    return Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0", **path})


def line(served: Served, text: str) -> str:
    """Carry out a line that is answered; give the answer."""
    done = served.run("do", text)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(served: Served, text: str) -> str:
    """Carry out a line that is refused; give what is said."""
    done = served.run("do", text)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


def get(served: Served, path: str) -> httpx.Response:
    return httpx.get(f"{served.url}{path}", timeout=20)


@pytest.mark.long
@pytest.mark.slow
def test_a_game_of_another_distribution_is_played_taken_away_and_played_on(tmp_path, packages):
    data = tmp_path / "data"
    with server(data, packages) as served:
        served.do(
            "signup alice mad-hatter",
            "signup bob yes-we-can",
            "tictactoe challenge alice bob -misere",
            "pow2 challenge alice bob",
            "tictactoe move 1 bob yes-we-can accept",
            "pow2 move 2 bob yes-we-can accept",
            "tictactoe move 1 alice mad-hatter b2",
        )
        assert "tictactoe: Tic-tac-toe, for 2 players (X, O)" in line(served, "games")
        assert "Drei in einer Reihe" in line(served, "help tictactoe --lang=de")
        board = line(served, "tictactoe show 1")
        assert "match 1: Tic-tac-toe (tictactoe/1 -misere)" in board
        assert board.endswith("3 . . .\n2 . x .\n1 . . .\n  a b c\n")
        assert "b2: it is occupied by x" in refusal(served, "tictactoe move 1 bob yes-we-can b2")
        assert get(served, "/api/matches/1").json()["at"]["position"] == {"board": {"b2": "x"}}
        assert 'data-game="tictactoe"' in get(served, "/api/matches/1/board.svg").text
        assert get(served, "/games/tictactoe").status_code == 200
    with server(data) as served:
        assert "tictactoe" not in line(served, "games")
        refused = refusal(served, "tictactoe move 1 bob yes-we-can a1")
        assert refused.startswith("unknown-game: there is no game of that name; the games are ")
        shown = line(served, "all show alice")
        assert "match 1: tictactoe (not installed) (tictactoe/1 -misere)\n" in shown
        assert "players: Player 1 alice, Player 2 bob\n" in shown
        assert KEPT in shown
        assert "match 2: The Power of Two" in shown
        answer = get(served, "/api/matches/1")
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown-rules")
        assert answer.json()["detail"] == KEPT
        for path in ("/", "/players/alice", "/games"):
            assert get(served, path).status_code == 200
        page = get(served, "/m/1")  # where a sentence begins with a capital
        assert (page.status_code, KEPT[1:] in unescape(page.text)) == (422, True)
        verified = served.run("verify", "1")
        assert (verified.returncode, KEPT in verified.stdout + verified.stderr) == (1, True)
        line(served, "pow2 move 2 alice mad-hatter m13-j7")
    with server(data, packages) as served:
        served.do(
            "tictactoe move 1 bob yes-we-can a1",
            "tictactoe move 1 alice mad-hatter b1",
            "tictactoe move 1 bob yes-we-can c3",
            "tictactoe move 1 alice mad-hatter b3",
        )
        assert "X has three in a row" in line(served, "tictactoe show 1")
        assert served.run("verify", "1").returncode == 0
        until(lambda: "bob won" in line(served, "tictactoe history"))


@pytest.mark.parametrize(("entry_point", "problem"), [
    ("matchpost_tictactoe:MATCH", "has no attribute 'MATCH'"),
    ("matchpost_ludo:GAME", "No module named 'matchpost_ludo'"),
    ("matchpost_tictactoe.rules:TicTacToe", "matchpost_tictactoe.rules:TicTacToe isn't a Game"),
    ("domain.games.pow2:GAME", "there is a game 'pow2' already, in domain.games.pow2"),
])  # fmt: skip
def test_a_distribution_that_can_not_be_used_is_named(tmp_path, entry_point, problem):
    packages = install(tmp_path / "packages", entry_point)
    done = server(tmp_path / "data", packages).run("do", "help")
    assert (done.returncode, done.stdout) == (2, "")
    assert "matchpost: the game 'tictactoe' of matchpost-tictactoe can't be used: " in done.stderr
    assert problem in done.stderr
    assert "repair or uninstall that distribution" in done.stderr
