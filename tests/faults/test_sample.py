"""A sample of every fault run; `trials/faults/run.py` does the full figures by hand."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from infra.process.failpoints import FAILPOINTS
from trials.faults import kills, log_kills, poison, power, proxy, results
from trials.faults import kills as chance
from trials.faults import power as room
from trials.faults.results import Outcome
from trials.faults.runs import ELSEWHERE, LOG_POINTS
from trials.faults.web import WEB_POINTS

pytestmark = pytest.mark.slow


def expect(outcome: Outcome) -> None:
    assert outcome.good, f"{outcome.name}: {outcome.faults} done, {outcome.violations}"


@pytest.mark.long
def test_a_worker_killed_at_every_point_leaves_exactly_one_outcome(tmp_path: Path) -> None:
    expect(kills.walk(kills.WORKER_POINTS, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize(
    "points", [kills.DOOR_POINTS, kills.KEEPER_POINTS, kills.SERVE_POINTS], ids=" ".join
)
def test_a_door_keeper_or_start_killed_at_any_point_leaves_exactly_one_outcome(tmp_path, points):
    expect(kills.at_points(points, 1, tmp_path))


@pytest.mark.long
def test_a_web_process_killed_at_any_point_of_the_way_in_leaves_exactly_one_outcome(tmp_path: Path):
    expect(kills.through_http(WEB_POINTS, 1, tmp_path))


def test_the_points_of_these_samples_are_all_there_are() -> None:
    groups = (kills.WORKER_POINTS, kills.DOOR_POINTS, kills.KEEPER_POINTS, kills.SERVE_POINTS)
    of_moves = [point for group in groups for point in group]
    assert sorted([*of_moves, *LOG_POINTS, *ELSEWHERE]) == sorted(FAILPOINTS)


@pytest.mark.long
@pytest.mark.parametrize(
    "points",
    [
        ["publish.created", "publish.signed", "publish.stored"],
        ["retire.written", "retire.removed"],
        log_kills.RESTORE_POINTS,
    ],
    ids=["publishing", "retiring", "restoring"],
)
def test_a_kill_while_the_log_is_published_restored_or_archived_loses_and_changes_nothing(
    tmp_path: Path, points: Sequence[str]
) -> None:
    # the other points: test_publisher.py and test_retire_job.py
    expect(log_kills.at_log_points(points, 1, tmp_path))


@pytest.mark.long
def test_processes_killed_by_chance_lose_nothing(tmp_path: Path) -> None:
    expect(chance.random_kills(2, tmp_path))


@pytest.mark.long
def test_the_server_killed_under_load_loses_no_acknowledged_command(tmp_path: Path) -> None:
    expect(kills.servers(2, tmp_path))


@pytest.mark.long
def test_the_server_of_the_queue_killed_under_load_loses_nothing_and_play_goes_on(tmp_path: Path):
    expect(kills.queues(3, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("point", ["drain.decided", "commit.answered"])
def test_a_worker_stopped_and_overtaken_writes_nothing_when_it_goes_on(tmp_path: Path, point: str):
    expect(kills.zombies(point, 1, tmp_path))


needs_a_compiler = pytest.mark.skipif(
    power.compiler() is None, reason="needs a C compiler, as cc, for the library that notes syncs"
)


@pytest.mark.long
@needs_a_compiler
def test_a_power_loss_loses_no_acknowledged_command(tmp_path: Path) -> None:
    expect(power.cuts(2, tmp_path))


@pytest.mark.long
@needs_a_compiler
def test_the_same_power_loss_loses_acknowledged_commands_under_everysec(tmp_path: Path) -> None:
    outcome = power.first_loss(8, tmp_path)
    expect(outcome)
    assert any("acknowledged and has no outcome" in found for found in outcome.violations)


@pytest.mark.long
def test_a_lost_reply_is_asked_for_again_and_given(tmp_path: Path) -> None:
    expect(proxy.replies(10, tmp_path))


@pytest.mark.long
def test_commands_sent_up_to_five_times_by_five_doors_have_one_outcome_each(tmp_path: Path) -> None:
    expect(proxy.copies(300, tmp_path))


@pytest.mark.long
@pytest.mark.timeout(300)  # of CPU time they take some 20 s, which a busy machine stretches
def test_poisoned_decisions_are_refused_and_harm_nobody_else(tmp_path: Path) -> None:
    expect(poison.doses(4, tmp_path))


@pytest.mark.long
@pytest.mark.skipif(not room.may_mount(), reason="needs to mount a small tmpfs, which root may")
def test_a_full_disk_acknowledges_nothing_and_service_resumes_by_itself(tmp_path: Path) -> None:
    expect(room.disk(1, tmp_path))


@pytest.mark.long
def test_full_memory_acknowledges_nothing_and_service_resumes_by_itself(tmp_path: Path) -> None:
    expect(room.memory(1, tmp_path))


def test_the_page_shows_the_results_that_are_kept() -> None:
    page = results.PAGE.read_text()
    assert results.table(results.load()) in page
