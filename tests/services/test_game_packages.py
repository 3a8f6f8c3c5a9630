"""A game of another distribution is installed, played, taken away and installed again."""

import os
import sys
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from html import unescape
from pathlib import Path

import httpx
import pytest

from infra.settings.game_packages import load_games
from tests.helpers.sample_game import install
from tests.helpers.served import Served, until

RULES_V1 = Path(__file__).parents[1] / "rules_v1"
"""A package that `matchpost new-game` wrote for version 1 of the rules interface, kept as it was."""
KEPT = "the game 'tictactoe' is not installed on this server; its matches are kept, and continue once it is installed"


def server(data: Path, packages: Path | None = None) -> Served:
    before = os.environ.get("PYTHONPATH", "")
    path = {"PYTHONPATH": f"{packages}:{before}".rstrip(":")} if packages else {}
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
def test_a_game_of_another_distribution_is_played_taken_away_and_played_on(tmp_path):
    data, packages = tmp_path / "data", install(tmp_path / "packages")
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


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for other distributions, whose modules go with it."""
    monkeypatch.syspath_prepend(tmp_path / "packages")
    yield tmp_path / "packages"
    for name in [name for name in sys.modules if name.startswith("matchpost_tictactoe")]:
        del sys.modules[name]


@pytest.mark.parametrize(("group", "entry_point", "problem"), [
    ("", "matchpost_tictactoe:MATCH", "module 'matchpost_tictactoe' has no attribute 'MATCH'"),
    ("", "matchpost_ludo:GAME", "No module named 'matchpost_ludo'"),
    ("", "matchpost_tictactoe.rules:TicTacToe", "matchpost_tictactoe.rules:TicTacToe isn't a Game"),
    ("", "domain.games.pow2:GAME", "there is a game 'pow2' already, in domain.games.pow2"),
    ("matchpost.games.v2", "", "it needs version 2 of the rules interface, and this server has 1"),
])  # fmt: skip
def test_a_distribution_that_can_not_be_used_is_named(others, group, entry_point, problem):
    install(others, entry_point, group=group)
    said = [str(one) for one in load_games.__wrapped__() if one.name == "tictactoe"]
    assert said == [f"the game 'tictactoe' of matchpost-tictactoe can't be used: {problem}"]


def test_rules_of_others_that_never_come_to_an_end_stop_their_own_command_alone(tmp_path):
    packages = install(tmp_path / "packages")
    rules = packages / "matchpost_tictactoe/rules.py"
    mark = '        """Mark the square."""\n'
    source = rules.read_text()
    assert mark in source
    rules.write_text(source.replace(mark, f"{mark}        while move == 0:\n            pass\n"))
    with server(tmp_path / "data", packages) as served:
        served.do(
            "signup alice mad-hatter",
            "signup bob yes-we-can",
            "tictactoe challenge alice bob",
            "pow2 challenge alice bob",
            "tictactoe move 1 bob yes-we-can accept",
            "pow2 move 2 bob yes-we-can accept",
        )
        stuck = partial(served.run, "do", "--key=stuck", "tictactoe move 1 alice mad-hatter a1")
        until(lambda: stuck().stderr.startswith("internal"))  # "pending" on a machine that is busy
        line(served, "pow2 move 2 alice mad-hatter m13-j7")
        line(served, "tictactoe move 1 alice mad-hatter b2")
        assert "2 . x .\n" in line(served, "tictactoe show 1")
        assert served.run("verify", "2").returncode == 0


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on which a package written for version 1 is installed, and one that can't be used."""
    folder = tmp_path_factory.mktemp("two")
    for one in ({"source": RULES_V1}, {"entry_point": "matchpost_ludo:GAME"}):
        packages = install(folder / "packages", **one)
    with server(folder / "data", packages) as served:
        served.do("signup alice mad-hatter", "signup bob yes-we-can")
        yield served


def test_a_distribution_that_can_not_be_used_stops_nothing_and_is_told(two: Served):
    assert "tictactoe" not in line(two, "games")
    said = (
        "the game 'tictactoe' of matchpost-tictactoe can't be used: No module named 'matchpost_ludo'; "
        "matches of it are kept and can't go on"
    )
    assert said in (two.data.parent / "serve.log").read_text()
    found = two.run("doctor")
    assert said in " ".join(found.stdout.split())
    assert found.returncode == 1


def test_a_package_written_for_version_1_is_unchanged_and_is_played(two: Served):
    digest = sha256()
    for path in sorted(
        each for each in RULES_V1.rglob("*") if each.is_file() and "__pycache__" not in each.parts
    ):
        digest.update(path.read_bytes())
    assert digest.hexdigest() == "0b5449b821e694495d87c94f0d0abe9e62554770a82a461d4add9efb405305d7"
    two.do(
        "five challenge alice bob",
        "five move 1 bob yes-we-can accept",
        "five move 1 alice mad-hatter c3",
    )
    assert "3 . . x . . .  3" in line(two, "five show 1")
    assert get(two, "/games/five").status_code == 200
    assert get(two, "/games/five/try").status_code == 200
