"""A sample of every fault run; `trials/faults/run.py` does the full figures by hand.

Processes killed on the path of a move: nothing acknowledged is lost, nothing is done twice.

A sample of the faults of a cluster and of a Sentinel pair; `trials/faults/run.py` does the full figures.
"""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import pytest
from redis import Redis

from domain.match.audit import verify
from domain.match.commands import CommandEnvelope
from domain.match.history import decode_event
from infra.durability.durability import Mode
from infra.process.failpoints import FAILPOINTS
from infra.store.outcomes import CommandOutcome
from infra.store.redis_store import RedisStore
from infra.valkey.process import is_alive
from tests.helpers.served import Player, Served, all_play, matches, state_of, until
from trials.faults import failovers, kills, log_kills, poison, power, proxy, results
from trials.faults import failovers as lossy_failovers
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
def test_a_door_keeper_or_start_killed_at_any_point_leaves_exactly_one_outcome(
    tmp_path: Path, points: Sequence[str]
) -> None:
    expect(kills.at_points(points, 1, tmp_path))


@pytest.mark.long
def test_a_web_process_killed_at_any_point_of_the_way_in_leaves_exactly_one_outcome(
    tmp_path: Path,
) -> None:
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
    # the other points: test_publisher_killed.py and test_retire_job.py
    expect(log_kills.at_log_points(points, 1, tmp_path))


@pytest.mark.long
def test_processes_killed_by_chance_lose_nothing(tmp_path: Path) -> None:
    expect(chance.random_kills(2, tmp_path))


@pytest.mark.long
def test_the_server_killed_under_load_loses_no_acknowledged_command(tmp_path: Path) -> None:
    expect(kills.servers(2, tmp_path))


@pytest.mark.long
def test_the_server_of_the_queue_killed_under_load_loses_nothing_and_play_goes_on(
    tmp_path: Path,
) -> None:
    expect(kills.queues(3, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("point", ["drain.decided", "commit.answered"])
def test_a_worker_stopped_and_overtaken_writes_nothing_when_it_goes_on(
    tmp_path: Path, point: str
) -> None:
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
def test_commands_sent_up_to_five_times_by_five_doors_have_one_outcome_each(
    tmp_path: Path,
) -> None:
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


def check(
    client: Redis, played: Sequence[Sequence[CommandEnvelope]], players: Sequence[Player]
) -> None:
    """What was acknowledged is there, once, in the order it was acknowledged."""
    store = RedisStore(client, Mode.FSYNC)
    for orders, player in zip(played, players, strict=True):
        events = store.events(orders[0].match)
        verify(orders[0].match, events)
        ids = list(dict.fromkeys(decode_event(data).command for data in events))
        assert ids == [sent.id for sent, _ in player.acknowledged]
        for sent, outcome in player.acknowledged:
            assert decode_event(events[outcome.seq - 1]).command == sent.id
    until(lambda: store.inbox_size(range(store.layout().shards)) == 0)


def test_workers_killed_under_load_decide_everything_once(tmp_path: Path) -> None:
    played = matches(6, 12)
    with Served(tmp_path / "data", {"MATCHPOST_WORKERS": "2"}) as served:
        players, threads = all_play(served, played)
        for _ in range(2):
            until(lambda: len(served.children("matchpost worker")) == 2)
            time.sleep(0.5)
            for worker in served.children("matchpost worker"):
                os.kill(worker, signal.SIGKILL)
        for thread in threads:
            thread.join()
        with served.client() as client:
            check(client, played, players)


@pytest.mark.long
def test_rqs_keys_flushed_in_the_middle_cost_seconds_and_no_move(tmp_path: Path) -> None:
    played = matches(6, 20)
    with Served(tmp_path / "data") as served, served.client() as client, served.queue() as queue:
        players, threads = all_play(served, played)
        for flush in range(1, 4):
            until(lambda flush=flush: sum(len(p.acknowledged) for p in players) > 20 * flush)  # type: ignore[misc]
            assert queue.dbsize()
            queue.flushall()
        before = sum(len(player.acknowledged) for player in players)
        until(lambda: sum(len(player.acknowledged) for player in players) > before)
        for thread in threads:
            thread.join()
        check(client, played, players)


@pytest.mark.long
def test_the_same_command_sent_five_times_at_once_is_one_event_and_five_equal_answers(
    tmp_path: Path,
) -> None:
    ((start, move),) = matches(1, 1)
    answers: list[CommandOutcome] = []
    with Served(tmp_path / "data") as served:
        Player(served).play([start])
        threads = [
            Thread(target=lambda: answers.append(Player(served).send(move))) for _ in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with served.client() as client:
            assert len(RedisStore(client, Mode.FSYNC).events(start.match)) == 2
    assert len(answers) == 5
    assert len(set(map(repr, answers))) == 1


@pytest.mark.long
def test_a_server_stopped_and_started_again_continues_where_it_was(tmp_path: Path) -> None:
    ((*first, last),) = matches(1, 6)
    served = Served(tmp_path / "data")
    with served:
        Player(served).play(first)
    with served, served.client() as client:
        assert state_of(client, last.match).ply == 5
        Player(served).play([last])
        assert state_of(client, last.match).ply == 6
        verify(last.match, RedisStore(client, Mode.FSYNC).events(last.match))


def test_a_killed_server_leaves_no_process_behind_and_continues_where_it_was(
    tmp_path: Path,
) -> None:
    ((*first, last),) = matches(1, 6)
    served = Served(tmp_path / "data").start()
    Player(served).play(first)
    children = [*served.children("matchpost worker"), *served.children("valkey-server")]
    assert len(children) >= 2
    served.end(signal.SIGKILL)
    until(lambda: not any(map(is_alive, children)), 5)
    with served, served.client() as client:
        Player(served).play([last])
        assert state_of(client, last.match).ply == 6


@pytest.mark.long
def test_a_graceful_stop_finishes_the_batch_in_hand(tmp_path: Path) -> None:
    played = matches(4, 10)
    served = Served(tmp_path / "data").start()
    players, threads = all_play(served, played)
    until(lambda: sum(len(player.acknowledged) for player in players) > 10)
    assert served.end() == 0
    with served, served.client() as client:
        # nobody died with a lease in hand
        assert "worked one by one" not in (tmp_path / "serve.log").read_text()
        for thread in threads:
            thread.join()
        check(client, played, players)


@pytest.mark.long
def test_a_door_that_dies_after_submitting_has_its_command_decided(tmp_path: Path) -> None:
    with Served(tmp_path / "data") as served, served.client() as client:
        served.do("signup alice mad-hatter", "signup bob yes-we-can", "pow2 challenge alice bob")
        served.env["MATCHPOST_FAULT"] = "submit.queued:1"
        done = served.run("do", "pow2 move 1 alice mad-hatter m13-m9")
        assert done.returncode == -signal.SIGKILL
        until(lambda: state_of(client, 1).moves == "m13-m9", 15)


@pytest.mark.long
@pytest.mark.parametrize("fault", ["kill-primary", "cut-off", "move-slots", "kill-queue"])
def test_a_cluster_loses_no_acknowledged_command(tmp_path: Path, fault: str) -> None:
    expect(failovers.under_load("cluster", fault, 2, tmp_path))


@pytest.mark.long
def test_a_failover_of_a_sentinel_pair_loses_no_acknowledged_command(tmp_path: Path) -> None:
    expect(failovers.under_load("sentinel", "kill-primary", 1, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("kind", list(failovers.KINDS))
def test_what_an_asynchronous_failover_loses_is_logged_and_restored_as_far_as_it_was_published(
    tmp_path: Path, kind: str
) -> None:
    expect(lossy_failovers.under_load(kind, 1, tmp_path))
