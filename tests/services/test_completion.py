"""Completion in bash, zsh and fish: each script runs in its own shell, if that is installed."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from services.cli import completion
from services.cli.completion import table
from services.cli.flags import SETTINGS
from services.cli.main import _parsers
from services.cli.subcommands import SUBCOMMANDS
from tests.helpers.forked import SCRIPT
from tests.helpers.served import Served, until

SHELLS = ["bash", "zsh", "fish"]
LISTED = [subcommand.name for subcommand in SUBCOMMANDS]

ZSH_STUBS = """
compdef() { :; }
_describe() { local one; for one in "${(@P)2}"; do print -r -- "${one%%:*}"; done }
_files() { print -r -- @files }
"""
"""In place of functions that work only while a line is typed."""


class Shell:
    """A shell that completes command lines."""

    def __init__(self, name: str, folder: Path, env: dict[str, str]) -> None:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
        self.name = name
        self.env = env
        self.folder = folder
        self.script = folder / f"completion.{name}"
        with self.script.open("w") as file, redirect_stdout(file):
            completion.run(name)

    def complete(self, *words: str) -> list[str]:
        """Return the words that may stand in place of the last one, as far as they begin with it."""
        done = subprocess.run(
            self._command(words), env=self.env, cwd=self.folder, capture_output=True, text=True,
            check=True, timeout=60,
        )  # fmt: skip
        assert done.stderr == ""
        found = [line.partition("\t")[0] for line in done.stdout.splitlines()]
        return sorted(word for word in found if word.startswith(words[-1]))

    def _command(self, words: tuple[str, ...]) -> list[str]:
        listed = shlex.join(["matchpost", *words])
        count = len(words)
        if self.name == "bash":
            run = f"COMP_WORDS=({listed}); COMP_CWORD={count}; _matchpost"
            show = '[[ ${#COMPREPLY[@]} = 0 ]] || printf "%s\\n" "${COMPREPLY[@]}"'
            return ["bash", "--norc", "-c", f"source {self.script}; {run}; {show}"]
        if self.name == "zsh":
            run = f"words=({listed}); CURRENT={count + 1}; _matchpost || true"
            return ["zsh", "-f", "-c", f"{ZSH_STUBS}source {self.script}\n{run}"]
        line = " ".join(["matchpost", *words])
        return ["fish", "-N", "-c", f"source {self.script}; complete -C {shlex.quote(line)}"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with an API, where alice is logged in; she plays boards 1 and 2, and 3 is of others."""
    data = tmp_path_factory.mktemp("completion") / "data"
    with Served(data, {"MATCHPOST_HTTP": "127.0.0.1:0"}) as served:
        served.do(
            "signup alice mad-hatter", "signup bob yes-we-can", "signup carol sing-along",
            "pow2 challenge alice bob", "torere challenge alice bob", "pow2 challenge bob carol",
        )  # fmt: skip
        yield served


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell of a user who is not logged in."""
    folder = tmp_path_factory.mktemp("shell")
    env = {
        **Served(folder / "data").env,
        "PATH": f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return Shell(request.param, folder, env)


def test_the_table_has_every_subcommand_and_every_flag_of_the_parser():
    found = table()
    assert list(found["commands"]) == LISTED
    parsers = _parsers()[0]._subparsers._group_actions[0].choices
    for name in LISTED:
        options = [
            (option, action.nargs != 0)
            for action in parsers[name]._actions
            for option in action.option_strings
        ]
        flags = {option for option, _ in options if option.startswith("--")}
        assert set(found[f"flags {name}"]) == flags | {"--help"}
        values = {key.split()[2] for key in found if key.startswith(f"value {name} ")}
        assert values == {option for option, has_value in options if has_value}


@pytest.mark.long
def test_subcommands_and_their_flags(shell):
    assert shell.complete("") == sorted(LISTED)
    assert shell.complete("ver") == ["verify"]
    assert shell.complete("--u") == ["--url"]
    assert shell.complete("do", "--rec") == ["--receipt"]
    assert shell.complete("watch", "1", "--") == ["--help", "--json", "--until-over"]
    settings = [f"--{name.replace('_', '-')}" for name in SETTINGS]
    own = ["--help", "--help-settings", "--config"]
    assert shell.complete("serve", "--") == sorted([*own, *settings])
    assert shell.complete("completion", "") == ["bash", "fish", "zsh"]
    assert shell.complete("rebuild", "rat") == ["ratings"]
    assert shell.complete("nothing", "") == []


@pytest.mark.long
def test_the_numbers_of_own_matches_after_a_login(shell, server):
    assert shell.complete("watch", "") == []
    assert not (shell.folder / "cache").exists()
    done = subprocess.run(
        [SCRIPT, "login", server.url], env=shell.env, input="alice\nmad-hatter\n", text=True,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # the first time may find nothing, because a shell does not wait for a server
    until(lambda: shell.complete("watch", "") == ["1", "2"])
    assert shell.complete("do", "pow2", "move", "") == ["1"]
    assert shell.complete("do", "torere", "resign", "") == ["2"]
    assert shell.complete("do", "duo", "move", "") == []
    assert shell.complete("do", "claim", "") == ["1", "2"]
    subprocess.run([SCRIPT, "logout"], env=shell.env, check=True, timeout=60, capture_output=True)
    assert shell.complete("watch", "") == []


def test_a_shell_does_not_wait_for_a_server_that_hangs(shell):
    """The command that looks for matches lasts longer here than the test waits for the shell."""
    folder = shell.folder / "bin"
    folder.mkdir()
    slow = folder / "matchpost"
    slow.write_text("#!/bin/sh\nexec sleep 90\n")
    slow.chmod(0o755)
    (shell.folder / "config" / "matchpost").mkdir(parents=True)
    (shell.folder / "config" / "matchpost" / "login.json").write_text("{}")
    shell.env["PATH"] = f"{folder}{os.pathsep}{shell.env['PATH']}"
    assert shell.complete("watch", "") == []


@pytest.mark.parametrize("shell_name", SHELLS)
def test_a_word_with_any_sign_is_quoted(shell_name, monkeypatch, capsys, tmp_path):
    """A shell shows a meaning as it is, and runs nothing that stands in it."""
    if shutil.which(shell_name) is None:
        pytest.skip(f"{shell_name} is not installed")
    odd = 'it\'s `touch x` $(touch x) \\ "y" %s'
    monkeypatch.setattr(completion, "table", lambda: {"commands": {"word": odd}})
    completion.run(shell_name)
    (tmp_path / "script").write_text(capsys.readouterr().out)
    show = '_matchpost_table commands; printf "%s\\n" "$_matchpost_words"'
    asked, separator = {
        "bash": (f"source ./script; {show}", ""),
        "zsh": (f"compdef() {{ :; }}; source ./script; {show}", f":{odd}"),
        "fish": ("source ./script; __matchpost_table commands", f"\t{odd}"),
    }[shell_name]
    done = subprocess.run(
        [shell_name, "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert done.stdout == f"word{separator}\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["script"]
