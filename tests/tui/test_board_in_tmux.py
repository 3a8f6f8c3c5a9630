"""`matchpost play` in a real terminal, which tmux provides."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from services.cli.main import main
from tests.helpers.api import Api

ROOT = Path(__file__).parents[2]
MATCHPOST = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from services.cli.main import main; "


class Terminal:
    """A terminal of 80 columns and 24 lines in which a command runs."""

    def __init__(self, folder: Path, command: str, env: Mapping[str, str]) -> None:
        self._socket = str(folder / "tmux")
        named = [word for name, value in env.items() for word in ("-e", f"{name}={value}")]
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", *named),
            f"{command}; echo exit code $?; exec sleep 600",
        )

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *words],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    @property
    def words(self) -> str:
        """The screen without its layout."""
        return " ".join(self.screen.split())

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def terminal(api: Api, pair, tmp_path: Path) -> Iterator[Terminal]:
    """The first of the two runs `matchpost play`, without a board number."""
    env = {
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path),
        "MATCHPOST_TOKEN": pair[0].token,
    }
    line = [sys.executable, "-c", f"{MATCHPOST}sys.exit(main())", "--url", api.url, "play"]
    api.caught_up()
    opened = Terminal(tmp_path, shlex.join(line), env)
    yield opened
    opened.close()


def moves(api: Api, board: int) -> list[str]:
    return api.http.get(f"/api/matches/{board}").json()["moves"]


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_match_is_played_in_a_terminal(api, pair, terminal, wait_until):
    _, other, board = pair
    wait_until(lambda: "It is your turn. Choose a piece to move." in terminal.screen)
    wait_until(lambda: "[O]" in terminal.screen)
    assert f"{board} The Power of Two" in terminal.screen
    assert f" {api.url.removeprefix('http://')}\n" in terminal.screen
    terminal.press("Down")
    wait_until(lambda: "[O]13" in terminal.screen)
    terminal.press("Enter")
    wait_until(lambda: "Chosen: m13." in terminal.screen)
    terminal.press("m", "m", "1", "3", "-", "j", "7", "Enter")
    wait_until(lambda: "Play m13-j7? Enter plays it" in terminal.words)
    assert moves(api, board) == []
    terminal.press("Enter")
    wait_until(lambda: f"Played m13-j7. It is {other.name}'s turn." in terminal.words)
    assert moves(api, board) == ["m13-j7"]
    assert other.move(board, "a13-d7").is_success
    wait_until(lambda: "Played: a13-d7. It is your turn." in terminal.words)
    wait_until(lambda: "1 m13-j7 a13-d7" in terminal.words)
    terminal.press("?")
    wait_until(lambda: "the next match waiting for you" in terminal.screen)
    terminal.press("Escape")
    wait_until(lambda: "the next match waiting for you" not in terminal.screen)
    terminal.press("q")
    wait_until(lambda: "exit code 0" in terminal.screen)
    assert f"match {board}, {api.url}" in terminal.screen


@pytest.mark.usefixtures("clean_environment")
def test_without_a_match_to_open_the_reason_is_told(api, pair, capsys, monkeypatch):
    monkeypatch.setattr("services.cli.play._check_terminal", lambda: None)
    monkeypatch.setenv("MATCHPOST_TOKEN", pair[1].token)
    api.caught_up()  # until then the match is an invitation, which `play` would open
    for words, code, said in (
        (["987654"], 1, "unknown-board: there is no match 987654"), ([], 0, "no match is waiting for"),
    ):  # fmt: skip
        assert main(["--url", api.url, "play", *words]) == code
        assert said in "".join(capsys.readouterr())
