"""Fault points: nothing by default, and a kill exactly where it was asked for."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from infra.process.failpoints import failpoint_of

SCRIPT = """
from infra.process.failpoints import failpoint
for n in range(3):
    failpoint("drain.read")
    print(n, flush=True)
    failpoint("drain.decided")
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


def test_the_file_put_back_kills_again(tmp_path: Path) -> None:
    once = tmp_path / "once"
    fault = failpoint_of({"MATCHPOST_FAULT": f"drain.read:2:{once}:STOP"})
    stopped: list[bool] = []
    for armed in (True, False, True):
        if armed:
            once.touch()
        child = os.fork()
        if child == 0:  # pragma: no cover - it is stopped or ends
            fault("drain.read")
            fault("drain.read")
            os._exit(0)
        _, status = os.waitpid(child, os.WUNTRACED)
        stopped.append(os.WIFSTOPPED(status))
        if stopped[-1]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert stopped == [True, False, True]


def test_several_settings_are_separated_by_commas(tmp_path: Path) -> None:
    once = tmp_path / "once"
    assert run(f"drain.read:1:{once},drain.decided:2") == ("0\n1\n", -9)


@pytest.mark.parametrize(
    "setting",
    [
        "drain",
        "drain.decided",
        "drain.decided:x",
        "nowhere:1",
        "drain.read:1:file:GO",
        "drain.read:1:file:STOP:x",
        "drain.read:1,",
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match="it takes NAME:COUNT"):
        failpoint_of({"MATCHPOST_FAULT": setting})
