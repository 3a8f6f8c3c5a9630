"""A sample of every fault run; `trials/faults/run.py` does the full figures by hand."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from infra.process.failpoints import FAILPOINTS
from trials.faults import kills, log_kills, poison, power, proxy, results
from trials.faults.results import Outcome
from trials.faults.runs import ELSEWHERE, LOG_POINTS
from trials.faults.web import WEB_POINTS

pytestmark = pytest.mark.slow

NO_COMPILER = pytest.mark.skipif(
    power.compiler() is None, reason="needs a C compiler, as cc, for the library that notes syncs"
)
NO_MOUNT = pytest.mark.skipif(
    not power.may_mount(), reason="needs to mount a small tmpfs, which root may"
)
BUSY = pytest.mark.timeout(300)  # of CPU time they take some 20 s, which a busy machine stretches
PUBLISH = ["publish.created", "publish.signed", "publish.stored"]
RETIRE = ["retire.written", "retire.removed"]
"""The other points: test_publisher.py and test_retire_job.py."""


def log_points(points: list[str]) -> Callable[[Path], Outcome]:
    return partial(log_kills.at_log_points, points, 1)


SAMPLES: dict[str, tuple[Callable[[Path], Outcome], list[pytest.MarkDecorator]]] = {
    "a worker killed at every point": (partial(kills.walk, kills.WORKER_POINTS), []),
    "a door killed": (partial(kills.at_points, kills.DOOR_POINTS, 1), []),
    "the scheduler killed": (partial(kills.at_points, kills.KEEPER_POINTS, 1), []),
    "the server killed as it starts": (partial(kills.at_points, kills.SERVE_POINTS, 1), []),
    "a web process killed on the way in": (partial(kills.through_http, WEB_POINTS, 1), []),
    "the publisher killed": (log_points(PUBLISH), []),
    "a retirement killed": (log_points(RETIRE), []),
    "a restore killed": (log_points(list(log_kills.RESTORE_POINTS)), []),
    "processes killed by chance": (partial(kills.random_kills, 2), []),
    "the server killed under load": (partial(kills.servers, 2), []),
    "the queue's server killed under load": (partial(kills.queues, 3), []),
    "overtaken after the decision": (partial(kills.zombies, "drain.decided", 1), []),
    "overtaken after the commit": (partial(kills.zombies, "commit.answered", 1), []),
    "power lost": (partial(power.cuts, 2), [NO_COMPILER]),
    "replies lost": (partial(proxy.replies, 10), []),
    "commands sent up to five times": (partial(proxy.copies, 300), []),
    "poisoned decisions": (partial(poison.doses, 4), [BUSY]),
    "the disk full": (partial(power.disk, 1), [NO_MOUNT]),
    "the memory full": (partial(power.memory, 1), []),
}
"""What is done to a server under load, and what keeps it from being done here."""


@pytest.mark.long
@pytest.mark.parametrize(
    "run", [pytest.param(run, marks=marks, id=name) for name, (run, marks) in SAMPLES.items()]
)
def test_each_acknowledged_command_has_exactly_one_outcome_after(run, tmp_path) -> None:
    outcome = run(tmp_path)
    assert outcome.good, f"{outcome.name}: {outcome.faults} done, {outcome.violations}"


def test_the_points_of_these_samples_are_all_there_are() -> None:
    groups = (kills.WORKER_POINTS, kills.DOOR_POINTS, kills.KEEPER_POINTS, kills.SERVE_POINTS)
    of_moves = [point for group in groups for point in group]
    assert sorted([*of_moves, *LOG_POINTS, *ELSEWHERE]) == sorted(FAILPOINTS)


@pytest.mark.long
@NO_COMPILER
def test_the_same_power_loss_loses_acknowledged_commands_under_everysec(tmp_path) -> None:
    outcome = power.first_loss(8, tmp_path)
    assert outcome.good, f"{outcome.faults} done, {outcome.violations}"
    assert any("acknowledged and has no outcome" in found for found in outcome.violations)


def test_the_page_shows_the_results_that_are_kept() -> None:
    assert results.table(results.load()) in results.PAGE.read_text()
