"""`matchpost play` in a real terminal, which tmux provides."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.helpers.api import Api, Player

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

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
def open_terminal(api: Api, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Run `matchpost play` with these words, in the name of a player or of nobody."""
    opened: list[Terminal] = []

    def run(*words: str, player: Player | None = None, **env: str) -> Terminal:
        env |= {"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
        if player:
            env["MATCHPOST_TOKEN"] = player.token
        line = [sys.executable, "-c", f"{MATCHPOST}sys.exit(main())", "--url", api.url, "play"]
        opened.append(Terminal(tmp_path, shlex.join([*line, *words]), env))
        return opened[-1]

    yield run
    for terminal in opened:
        terminal.close()


def moves(api: Api, board: int) -> list[str]:
    return api.http.get(f"/api/matches/{board}").json()["moves"]


def test_a_match_is_played_in_a_terminal(api, pair, open_terminal, wait_until):
    one, other, board = pair
    terminal = open_terminal(str(board), player=one)
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


@pytest.mark.long
@pytest.mark.parametrize("is_first", [True, False])
def test_the_match_that_waits_longest_is_opened_or_none(
    api, pair, open_terminal, wait_until, is_first
):
    one, other, board = pair
    api.begun(one, other, game="torere")
    api.caught_up()
    terminal = open_terminal(player=one if is_first else other)
    wait_until(
        lambda: (f"{board} The Power of Two" if is_first else "exit code 0") in terminal.screen
    )
    assert ("no match is waiting for" in terminal.screen) == (not is_first)


def test_a_board_without_a_match_is_refused(open_terminal, wait_until):
    terminal = open_terminal("987654")
    wait_until(lambda: "exit code 1" in terminal.screen)
    assert "unknown-board: there is no match 987654" in terminal.screen
