"""Fault points: nothing by default, and a kill exactly where it was asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.faults import plan

SCRIPT = """
from infra.faults import point
for n in range(3):
    point("drain.read")
    print(n, flush=True)
    point("drain.decided")
"""


def run(setting: str) -> tuple[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={"MATCHPOST_FAULT": setting},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode


def test_without_the_variable_a_point_does_nothing() -> None:
    assert run("") == ("0\n1\n2\n", 0)


def test_the_process_dies_at_the_point_and_count_asked_for() -> None:
    assert run("drain.decided:2") == ("0\n1\n", -9)


def test_with_a_file_it_dies_only_if_it_can_remove_it(tmp_path: Path) -> None:
    once = tmp_path / "once"
    once.touch()
    assert run(f"drain.read:1:{once}") == ("", -9)
    assert run(f"drain.read:1:{once}") == ("0\n1\n2\n", 0)


@pytest.mark.parametrize("setting", ["drain", "drain.decided", "drain.decided:x", "nowhere:1"])
def test_a_setting_that_makes_no_sense_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match="it takes NAME:COUNT"):
        plan({"MATCHPOST_FAULT": setting})
