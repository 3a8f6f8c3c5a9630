"""The limits of a decision's CPU time, which timers that run on from decision to decision keep."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from workers.commands.decision_limits import CPU_SECONDS, LIMITED, OutOfTime

SHORT_SECONDS = CPU_SECONDS / 4
"""The time of a decision in most tests, because one waits for as much CPU time to be used."""

BEGIN = """
import time
from workers.commands import decision_limits
from workers.commands.decision_limits import LIMITED, OutOfTime
decision_limits.TICK_SECONDS /= 4
decision_limits.KILL_SECONDS /= 4
SHORT_SECONDS = decision_limits.CPU_SECONDS / 4
LIMITED.install()

def use(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""


def use(seconds: float) -> None:
    """Use CPU time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def loop() -> None:
    while True:
        pass


def decide(work: Callable[[], None]) -> None:
    with LIMITED:
        work()


@pytest.mark.usefixtures("cpu_limit")
def test_a_decision_that_takes_too_long_is_ended_and_no_other():
    for _ in range(6):
        decide(lambda: use(CPU_SECONDS / 4))
    with pytest.raises(OutOfTime):
        decide(loop)
    decide(lambda: use(CPU_SECONDS / 10))


@pytest.mark.usefixtures("short_cpu_limit")
def test_the_timers_stop_when_no_decision_follows():
    decide(lambda: use(0.01))
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[1]
    assert signal.getitimer(signal.ITIMER_PROF)[0]
    # the kernel counts the time of its timers by ticks, which may be late by some
    end = time.process_time() + 10 * SHORT_SECONDS
    while signal.getitimer(signal.ITIMER_VIRTUAL)[1] and time.process_time() < end:
        use(SHORT_SECONDS / 10)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    with pytest.raises(OutOfTime):
        decide(loop)


def test_without_limits_a_decision_sets_no_timer():
    decide(lambda: use(0.01))
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


SWALLOWS = """
with LIMITED:
    while True:
        try:
            use(60)
        except OutOfTime:
            pass
"""
LONG_AFTERWARDS = """
try:
    with LIMITED:
        use(60)
except OutOfTime:
    LIMITED.leave()
use(decision_limits.KILL_SECONDS + SHORT_SECONDS)
"""


@pytest.mark.parametrize(
    ("program", "ended"),
    [
        ("with LIMITED: max(range(10 ** 12))", -signal.SIGPROF),
        ("with LIMITED: use(0.01)\nwith LIMITED: max(range(10 ** 12))", -signal.SIGPROF),
        (SWALLOWS, -signal.SIGPROF),
        (LONG_AFTERWARDS, 0),
    ],
    ids=["stuck in C", "stuck later", "a game that swallows the end", "long after a decision"],
)
def test_what_does_not_end_by_itself_ends_the_process(program, ended):
    done = subprocess.run([sys.executable, "-c", BEGIN + program], check=False)
    assert done.returncode == ended
