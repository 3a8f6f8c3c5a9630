"""What README.md shows is typed into a new server, and gives what is printed there."""

import os
from pathlib import Path

import pytest

from tests.helpers.forked import SCRIPT
from tests.helpers.pages import Shell, blocks, differs, is_published
from tests.helpers.served import Served, until


@pytest.mark.slow
def test_the_exchange_on_the_page_is_what_one_sees(tmp_path: Path) -> None:
    (exchange,) = [one for one in blocks("README.md") if one.language == "console"]
    with Served(tmp_path / "data") as served:
        path = f"{SCRIPT.parent}:{os.environ['PATH']}"
        with Shell(tmp_path, {**served.env, "PATH": path}) as shell:
            for command, shown in exchange.exchanges():
                if command.startswith("matchpost verify"):
                    # a reader types no faster than a leaf is published
                    until(lambda: is_published(served))
                said, _ = shell.type(command)
                assert not differs(shown, said), command
