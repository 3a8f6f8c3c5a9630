"""The commands of the tests are processes as a user's are, though they are forked."""

import os
import subprocess
from pathlib import Path

import pytest

from services import __version__
from tests.helpers.forked import SCRIPT, run_command

ASKED = '{"game": "pow2"}\n'


@pytest.mark.parametrize(
    ("words", "typed"),
    [(["--version"], None), (["dance"], None), (["referee"], ASKED), (["do"], "")],
)
def test_a_forked_command_says_what_one_of_its_own_says(words: list[str], typed: str | None):
    own = subprocess.run(
        [SCRIPT, *words], input=typed, env=os.environ, capture_output=True, text=True, check=False
    )
    forked = run_command(words, os.environ, typed)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        own.returncode, own.stdout, own.stderr,
    )  # fmt: skip


def test_a_forked_command_has_the_folder_and_the_environment_of_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    done = run_command(["do", "pow2 show 1"], {"PATH": os.environ["PATH"]})
    assert f"no server is running for {tmp_path}/" in done.stderr
    named = run_command(["do", "pow2 show 1"], {**os.environ, "MATCHPOST_DATA": "elsewhere"})
    assert f"no server is running for {tmp_path}/elsewhere" in named.stderr


def test_a_command_that_takes_too_long_is_killed():
    with pytest.raises(subprocess.TimeoutExpired):
        run_command(["worker", "--redis-url", "redis://192.0.2.1:1"], os.environ, seconds=0.01)
    assert run_command(["--version"], os.environ).stdout == f"matchpost {__version__}\n"
