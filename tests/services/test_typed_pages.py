"""What the pages show is typed into one server, page after page, and gives what is printed there."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.forked import SCRIPT
from tests.helpers.pages import SHELL, Shell, block, blocks, differs, is_published
from tests.helpers.served import Served, until
from tests.test_docs_commands import STORY, reason, typed_by

THIS = "tests/services/test_typed_pages.py"
ID = re.compile(r"\b[0-9a-f]{16}\b")
LOGO = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes((0, 0, 0, 64)) * 2 + bytes((8, 6, 0, 0, 0))
BANNER = "The server is away on Sunday from 10 to 11 UTC.\n"
PLAYERS = ("docs/terminal.md",)
"""Pages whose reader has no server on the own machine."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """The server of the story, and beside its data what the pages have the reader save."""
    saved = {"plan.json": "{", "class7b.csv": "userid,name"}
    for name, beginning in saved.items():
        (tmp_path / name).write_text(block("docs/club.md", beginning), "utf-8")
    for name in ("rules.md", "impressum.md"):
        (tmp_path / name).write_text("Be kind.\n", "utf-8")
    (tmp_path / "sunday.txt").write_text(BANNER, "utf-8")
    (tmp_path / "logo.png").write_bytes(LOGO)
    env = {
        "MATCHPOST_HTTP": "127.0.0.1:0",
        "MATCHPOST_SITE": "https://play.example.org",
        "MATCHPOST_LOG_FORMAT": "json",
        "MATCHPOST_SECURITY_LOG": str(tmp_path / "security.log"),
        "MATCHPOST_WORKERS": "1",
    }
    with Served(tmp_path / "data", env) as server:
        path = [str(SCRIPT.parent), os.environ["PATH"]]
        server.env.update(PATH=":".join(path), HOME=str(tmp_path), XDG_STATE_HOME=str(tmp_path))
        yield server


@pytest.mark.long
@pytest.mark.timeout(900)
def test_what_the_pages_show_is_what_one_sees(served, tmp_path):
    players = {name: text for name, text in served.env.items() if not name.startswith("MATCHPOST_")}
    wrong, own_ids = "", dict[str, str]()
    assert served.run("do", "signup carol sing-along").returncode == 0
    for page in STORY:
        with Shell(tmp_path, players if page in PLAYERS else served.env) as shell:
            for one in blocks(page):
                if one.language in SHELL and not reason(one) and typed_by(one) == THIS:
                    for command, shown in one.exchanges():
                        wrong += said_otherwise(shell, served, command, shown, own_ids)
    assert not wrong, wrong


def said_otherwise(
    shell: Shell, served: Served, command: str, shown: str, own_ids: dict[str, str]
) -> str:
    """Type a command, with what stands for ids of the page; return how its answer differs from the page's."""
    if any(word in command for word in ("verify", "export", "backup")):
        # a reader types no faster than a leaf is published
        until(lambda: is_published(served), pause=0.5)
    here = {"https://play.example.org": served.url, "/srv/matchpost-data": str(served.data)}
    typed = ID.sub(lambda found: own_ids.get(found[0], found[0]), command)
    for public, own in here.items():
        typed = typed.replace(public, own)
    if typed.startswith("matchpost login"):
        typed += " <<< $'alice\\nmad-hatter'"
    said, _ = shell.type(typed)
    for public, own in here.items():
        said = said.replace(own, public)
    own_ids.update(zip(ID.findall(shown), ID.findall(said), strict=False))
    different = differs(shown, said)
    return f"\n$ {command}\n{different}" if different else ""
