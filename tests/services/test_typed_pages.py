"""What the pages show is typed into a server, page after page, and gives what is printed there."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.forked import SCRIPT
from tests.helpers.pages import SHELL, Shell, block, blocks, differs, is_published
from tests.helpers.served import Served, until
from tests.test_docs_commands import STORY, reason, typed_by

THIS = "tests/services/test_typed_pages.py"

PLAYERS = ("docs/terminal.md",)
"""Pages whose reader has no server on the own machine."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    env = {
        "MATCHPOST_HTTP": "127.0.0.1:0",
        "MATCHPOST_LOG_FORMAT": "json",
        "MATCHPOST_SECURITY_LOG": str(folder / "security.log"),
        "MATCHPOST_WORKERS": "1",
    }
    tools = folder / "bin"
    tools.mkdir()
    backup = tools / "matchpost-backup"
    backup.write_text(block("docs/backup.md", "set -eu"), "utf-8")
    backup.chmod(0o700)
    with Served(folder / "data", env) as server:
        path = [str(tools), str(SCRIPT.parent), os.environ["PATH"]]
        server.env.update(PATH=":".join(path), HOME=str(folder), XDG_STATE_HOME=str(folder))
        yield server


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("page", STORY)
def test_what_a_page_shows_is_what_one_sees(page: str, served: Served, folder: Path) -> None:
    env = {**served.env}
    if page in PLAYERS:
        env = {name: value for name, value in env.items() if not name.startswith("MATCHPOST_")}
    wrong = ""
    with Shell(folder, env) as shell:
        for one in blocks(page):
            if one.language not in SHELL or reason(one) or typed_by(one) != THIS:
                continue
            for command, shown in one.exchanges():
                if "verify" in command or "export" in command:
                    # a reader types no faster than a leaf is published
                    until(lambda: is_published(served), pause=0.5)
                typed = command.replace("https://play.example.org", served.url)
                typed = typed.replace("/srv/matchpost-data", str(served.data))
                if typed.startswith("matchpost login"):
                    typed += " <<< $'alice\\nmad-hatter'"
                said, code = shell.type(typed)
                said = said.replace(served.url, "https://play.example.org")
                said = said.replace(str(served.data), "/srv/matchpost-data")
                if one.language == "sh":
                    assert code == 0, f"{command}\n{said}"
                elif different := differs(shown, said):
                    wrong += f"$ {command}\n{different}"
    assert not wrong
