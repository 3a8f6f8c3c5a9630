"""The commands for authors of games: a new package, its check in sentences, and the playground."""

import subprocess
import sys
from pathlib import Path

import pytest

from services.cli.main import main
from services.serve.processes import console_script
from tests.helpers.api import client_of
from tests.helpers.sample_game import install
from tests.helpers.served import until


def typed(folder: Path, *words: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run `matchpost` with these words in a folder, where packages of `path` are installed."""
    return run([console_script(), *words], folder, path)


def run(command: list[str | Path], folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=surroundings(path), capture_output=True, text=True, check=False
    )


def surroundings(path: str | Path) -> dict[str, str]:
    found = [str(path), *sys.path] if path else sys.path
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(one for one in found if one)}


def written(folder: Path, board: str = "squares") -> Path:
    """Write a new game, and return a folder where it is installed."""
    assert typed(folder, "new-game", "five", "--board", board).returncode == 0
    return install(folder / "packages", source=folder / "matchpost-five")


@pytest.mark.slow
@pytest.mark.parametrize(
    "board",
    ["squares", *(pytest.param(one, marks=pytest.mark.long) for one in ("points", "hexagons"))],
)
def test_a_new_game_keeps_the_laws_and_passes_its_own_tests(tmp_path, board):
    packages = written(tmp_path, board)
    checked = typed(tmp_path, "check-game", "five", "--matches", "3", path=packages)
    assert checked.stdout.startswith(
        "five keeps all laws in 3 matches at random for each number of players and each option.\n"
    )
    assert "It has no guide (guide.toml)" in checked.stdout
    assert checked.returncode == 0
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = run(tests, tmp_path / "matchpost-five", packages)
    assert "3 passed" in done.stdout, done.stdout
    rules = packages / "matchpost_five" / "rules.py"
    rules.write_text(rules.read_text().replace("position.stones + bytes([move])", "bytes([move])"))
    done = typed(tmp_path, "check-game", "five", "--matches", "1", path=packages)
    assert done.returncode == 1
    assert done.stdout.startswith(
        "five: it has not ended after 5000 moves at random; in a match of 2, after ... "
    )
    assert "\n1 fault. See docs/adding-a-game.md" in done.stdout


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("Five", "'Five' can't be a game's key: write lower-case letters and digits"),
        ("5go", "'5go' can't be a game's key: write lower-case letters and digits"),
        ("pow2", "there is a game 'pow2' already; choose another key"),
        ("five", "matchpost-five is there already; nothing was written"),
    ],
)
def test_a_key_that_can_not_be_used_is_refused_and_nothing_is_overwritten(
    clean_environment, capsys, key, said
):
    (clean_environment / "matchpost-five").mkdir()
    assert main(["new-game", key]) == 1
    assert capsys.readouterr().err == f"usage: {said}\n"
    assert [entry.name for entry in clean_environment.rglob("*")] == ["matchpost-five"]


@pytest.mark.slow
@pytest.mark.long
def test_the_playground_shows_a_change_and_keeps_the_board_where_a_change_breaks_the_game(tmp_path):
    packages = written(tmp_path)
    rules = packages / "matchpost_five" / "rules.py"
    with subprocess.Popen(
        [console_script(), "playground", "five", "--at", "127.0.0.1:0"],
        env=surroundings(packages), stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("Open ").partition(" ")[0]
            game = "/games/five/try"
            with client_of(url.removesuffix(game)) as client:
                script = '<script type="module" src="/playground.js"></script></head>'
                assert script in client.get(game).text
                assert client.get(f"{game}/moves").json()["ply"] == 0
                first = client.get("/playground-version").text
                rules.write_text(rules.read_text().replace('title = "Five"', 'title = "Quintet"'))
                until(lambda: client.get("/playground-version").text != first, 120, 0.5)
                assert "Quintet" in client.get(game).text
                rules.write_text(rules.read_text() + "\nthis is no Python\n")
                said = ""
                while "invalid syntax" not in said:
                    said = process.stdout.readline()
                    assert process.poll() is None
                assert "Quintet" in client.get(game).text
        finally:
            process.terminate()
            process.wait(30)
