"""A benchmark measures real work, and says so in the agreed form."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.lone import CommandCounts, cost_of_moves
from bench.workload import games, moves, starts
from domain.match.decide import decide
from domain.match.decision import Decision
from domain.match.history import EMPTY_SNAPSHOT, Snapshot, chain_events

ROOT = Path(__file__).parents[2]
BENCH = (sys.executable, "-m", "bench")


def bench(*words: str) -> dict[str, Any]:
    done = subprocess.run(
        [*BENCH, *words, "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert set(found) == {"rate", "unit", "peers", "ratios", "details"}
    assert found["rate"] > 0
    assert found["details"]["median fdatasync ms"] > 0
    for peer, rate in found["peers"].items():
        assert found["ratios"][peer] == pytest.approx(found["rate"] / rate, rel=0.05)
    return found


@pytest.mark.long
def test_the_pipeline_is_measured_beside_its_peers() -> None:
    found = bench("pipeline", "--matches", "4", "--peer-jobs", "20")
    assert found["unit"] == "moves"
    assert set(found["peers"]) == {"rq_job_per_move", "redis_limit", "eventsourcing_sqlite"}
    assert found["details"]["moves"] == sum(len(game.moves) for game in games(4))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="the slower disk is made by a C compiler")
def test_a_slower_disk_slows_one_job_a_move_more_than_batches() -> None:
    found = bench("pipeline", "--matches", "2", "--peer-jobs", "10", "--fsync-delay", "2")
    assert found["details"]["fsync delay ms"] == 2
    # each job waits for several syncs of 2 ms and more
    assert found["peers"]["rq_job_per_move"] < 500


@pytest.mark.long
@pytest.mark.slow
def test_publishing_is_measured_alone_and_beside_the_path() -> None:
    found = bench("publish", "--matches", "4")
    assert found["unit"] == "leaves"
    assert set(found["peers"]) == {"moves_decided_alone", "moves_decided_beside"}
    # the moves, the starts, and in each of the four shards the anchor of its draws
    assert found["details"]["leaves"] == 4 + 4 + sum(len(game.moves) for game in games(4))
    assert found["details"]["bytes a leaf"] > 34
    assert found["details"]["lag, s"]["most"] >= found["details"]["lag, s"]["median"]
    kept = found["peers"]["moves_decided_beside"] / found["peers"]["moves_decided_alone"]
    assert found["details"]["moves kept with a publisher"] == pytest.approx(kept, abs=0.01)
    if sys.platform == "linux":
        alone, beside = (
            found["details"][f"processor time a move, us, {how}"] for how in ("alone", "beside")
        )
        assert {"valkey-server", "worker", "submitting"} == alone.keys()
        assert alone.keys() <= beside.keys() <= alone.keys() | {"publisher"}


@pytest.mark.slow
def test_the_rules_are_measured_beside_python_chess() -> None:
    found = bench("rules", "--plies", "200")
    assert found["unit"] == "random plies"
    assert set(found["peers"]) == {"python_chess"}
    assert found["details"]["perft leaves"] == 105_300


@pytest.mark.long
@pytest.mark.slow
def test_people_are_measured_alone_and_beside_robots() -> None:
    found = bench("robots", "--matches", "20", "--seconds", "2", "--pause", "1")
    details = found["details"]
    assert details["people's moves"] == 100
    assert details["matches of robots"] == 20
    alone, beside = details["latency alone, us"], details["latency beside the robots, us"]
    assert details["p99 ratio"] == pytest.approx(beside["p99"] / alone["p99"], abs=0.01)


@pytest.mark.long
@pytest.mark.slow
def test_moves_over_http_are_measured_at_full_and_at_half_speed() -> None:
    found = bench("http", "--clients", "2", "--matches", "1", "--runs", "3")
    assert found["unit"] == "moves"
    rates = found["details"]["moves a second of each run"]
    assert len(rates) == 3
    assert round(found["rate"]) == sorted(rates)[1], "the median is reported"
    assert found["details"]["moves"] == sum(len(game.moves) for game in games(6)[2:4])
    assert 0 < found["details"]["moves a second at half speed"] < found["rate"]
    if sys.platform == "linux":
        used = found["details"]["processor time a move, us"]
        assert {"web", "worker", "side"} < used.keys()
        assert found["details"]["processor time a move of all processes, us"] == sum(used.values())


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="the slower disk is made by a C compiler")
def test_a_lone_move_is_measured_on_two_disks_and_its_commands_are_counted() -> None:
    found = bench("lone", "--moves", "2", "--pause", "1", "--settle", "3")["details"]
    # at least the submit and the commit, each synced: 2 ms and more
    assert found["median_ms_2"] > 4
    assert found["commands"] > found["by command"]["evalsha"] >= 2
    # its own, and the publisher's afterwards, which may be one for both moves; that of the idle server,
    # which is subtracted, comes every ten seconds, so once in three of these windows
    assert 0 < found["by command"]["waitaof"] < 4
    assert found["aof_bytes"] > 100


def test_what_an_idle_server_does_is_no_cost_of_a_move() -> None:
    # in 10 s without moves 20 GETs and 100 bytes; in 20 s with 4 moves 8 SETs and 400 bytes more
    before = CommandCounts(0.0, 1_000, {"get": 5})
    idle = CommandCounts(10.0, 1_100, {"get": 25})
    after = CommandCounts(30.0, 1_700, {"get": 65, "set": 8})
    cost = cost_of_moves(before, idle, after, 4)
    assert cost.commands == {"get": 0, "set": 2}
    assert (cost.aof_bytes, cost.idle) == (100, 2)


def test_replay_is_measured_beside_eventsourcing() -> None:
    found = bench("replay", "--matches", "10")
    assert found["details"]["events"] == sum(len(game.moves) + 2 for game in games(10))
    assert set(found["peers"]) == {"eventsourcing_sqlite"}


@pytest.mark.long
def test_memory_says_what_a_match_takes_and_where() -> None:
    found = bench("memory", "--matches", "200", "--plies", "40")
    parts = found["details"]["of which, by MEMORY USAGE of one match"]
    assert set(parts) == {"snapshot", "moves", "turns", "ev", "at", "out"}
    assert found["details"]["bytes a match"] >= sum(parts.values()) / 2
    assert found["details"]["with the log trimmed"] < found["details"]["bytes a match"]


@pytest.mark.long
def test_all_matches_and_logs_are_verified_after_real_commits() -> None:
    details = bench("verify", "--matches", "24", "--plies", "6")["details"]
    # the start has two events, and the end one
    assert (details["matches"], details["events"], details["leaves"]) == (24, 24 * 9, 24 * 9)


@pytest.mark.long
def test_lists_of_finished_matches_are_read_from_the_server_and_from_the_archive() -> None:
    details = bench("lists", "--matches", "100", "--buckets", "1,3")["details"]
    assert [one["buckets"] for one in details["with buckets"]] == [1, 3]
    for one in details["with buckets"]:
        archived, before = (
            one[f"bytes a match, {where}"] for where in ("in the archive", "rows in the server")
        )
        assert 0 < archived < before
        for where in "rows in the server", "in the archive":
            # what is read is compared with what is to be read, so these are the lists of all matches
            assert list(one[f"ms, {where}"]) == [
                "player, 100 matches",
                *(f"{name}, 80 matches" for name in ("player and game", "game", "two players")),
            ]
            for parts in one[f"ms, {where}"].values():
                assert all(parts[part]["cold"] > 0 for part in ("newest", "middle", "oldest"))


@pytest.mark.parametrize("words", [["nothing"], ["memory", "--plies", "0"], ["rules", "--plies"]])
def test_words_that_name_no_benchmark_are_refused(words: list[str]) -> None:
    done = subprocess.run([*BENCH, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "python -m bench" in done.stderr


def test_the_workload_is_whole_games_that_are_accepted_in_the_order_given() -> None:
    played = games(3)
    snapshots: dict[int, Snapshot] = {}
    for sent in [*starts(played), *moves(played)]:
        before = snapshots.get(sent.match, EMPTY_SNAPSHOT)
        decided = decide(sent, before.state)
        assert isinstance(decided, Decision), decided
        _, snapshots[sent.match] = chain_events(sent, decided, before, 1)
    assert len(snapshots) == 3
    assert all(snapshot.state.over for snapshot in snapshots.values())


def test_the_workload_is_the_same_each_time() -> None:
    assert games(2) == games(2)
