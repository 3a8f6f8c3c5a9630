"""Pages whose commands need servers or folders of their own: README.md, docs/upgrading.md and docs/install.md."""

import json
import os
import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from services import __version__
from tests.helpers.forked import SCRIPT
from tests.helpers.pages import ROOT, Shell, block, blocks, differs, is_published
from tests.helpers.served import Served, until


@pytest.mark.long
def test_the_exchange_on_the_page_is_what_one_sees(tmp_path):
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


PAGE = Path(__file__).parents[2] / "docs" / "upgrading.md"
BLOCK = re.compile(r"```console (\w)\n(.*?)```", re.DOTALL)


def run(served: Served, folder: Path, line: str) -> str:
    """Carry out a line of the page in the folder; return what it prints."""
    done = subprocess.run(
        ["bash", "-c", line],
        env={**served.env, "PATH": f"{SCRIPT.parent}:/usr/bin:/bin"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


def is_whole(served: Served, folder: Path) -> bool:
    """Whether the document of match 1 has a proof for each leaf."""
    document = json.loads(run(served, folder, "matchpost export 1"))
    return len(document["log"]["proofs"]) == len(document["leaves"])


@pytest.mark.long
def test_each_command_of_the_page_answers_as_it_says(tmp_path):
    with ExitStack() as stack:
        servers = {}
        for name in ("a", "b"):
            env = {"MATCHPOST_MAIL_DOMAIN": f"{name}.example.org", "MATCHPOST_SHARDS": "4"}
            served = Served(tmp_path / name / "data", env)
            (tmp_path / name).mkdir()
            servers[name] = stack.enter_context(served)
            shutil.copy(served.data / "keys" / "log-key.pub", tmp_path / f"{name}-log-key.pub")
        servers["a"].do(
            "signup alice mad-hatter",
            "signup bob yes-we-can",
            "pow2 challenge alice bob --password=mad-hatter --as=alice",
            "pow2 move 1 alice mad-hatter m13-m9",
            "pow2 move 1 bob yes-we-can a13-c11",
        )
        servers["b"].do("signup anna blue-teapot", "signup ben red-lantern")
        commands = 0
        for name, block in BLOCK.findall(PAGE.read_text()):
            for part in block.removeprefix("$ ").split("\n$ "):
                line, *wanted = part.strip().splitlines()
                if line.startswith("matchpost export 1 >"):
                    # each look is a process
                    until(lambda name=name: is_whole(servers[name], tmp_path), pause=1)
                said = run(servers[name], tmp_path, line)
                for text in wanted:
                    assert text in said, line
                commands += 1
        assert commands > 10


INSTALL = block("docs/install.md", "git clone")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_commands_of_the_page_install_the_program(tmp_path):
    if subprocess.run(
        ["git", "-C", ROOT, "rev-parse"], capture_output=True, check=False
    ).returncode:
        pytest.skip("these sources are no git repository")
    (tmp_path / "bin").mkdir()
    commands = INSTALL.replace("/opt/", f"{tmp_path}/opt/").replace("/usr/local/", f"{tmp_path}/")
    env = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "REPOSITORY": str(ROOT), "HOME": str(tmp_path)}
    with Shell(tmp_path, env) as shell:
        for line in commands.splitlines():
            said, code = shell.type(line)
            assert code == 0, f"{line}\n{said}"
    assert said == f"matchpost {__version__}\n"
