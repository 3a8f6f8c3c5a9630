"""A benchmark measures real work, and says so in the agreed form; what it prints can be read."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import BENCHMARKS, main
from bench.all import BEGIN, END, SIZES, BenchRun, run_one, table, with_table
from bench.browser import BROWSERS
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
        assert found["ratios"][peer] == pytest.approx(found["rate"] / rate, rel=0.05, abs=0.005)
    return found


def plies(count: int, first: int = 0) -> int:
    """The number of moves in some games of the workload, which are played when they are needed."""
    return sum(len(game.moves) for game in games(count)[first:])


MEASURED = [
    ("pipeline --matches 4 --peer-jobs 20", "rq_job_per_move;redis_limit;eventsourcing_sqlite", lambda: {"moves": plies(4)}),
    # the moves, the starts, and in each of the four shards the anchor of its draws
    ("publish --matches 4", "moves_decided_alone;moves_decided_beside", lambda: {"leaves": 4 + 4 + plies(4)}),
    ("robots --matches 20 --seconds 2 --pause 1", None, lambda: {"people's moves": 100, "matches of robots": 20}),
    ("http --clients 2 --matches 1 --runs 3", None, lambda: {"moves": plies(4, 2)}),
    ("lone --moves 2 --pause 1 --settle 3", None, dict),
    ("terminal --rounds 2", None, dict),
    ("pages --requests 20", "empty_page", dict),
    ("upgrade --matches 2 --seconds 1 --times 1", None, lambda: {"moves lost": 0}),
    ("idle --runs 1 --settle 1 --seconds 3", "a bare Valkey and an empty web process", dict),
    ("memory --matches 200 --plies 40", None, dict),
    ("verify --matches 24 --plies 6", None, lambda: {"matches": 24, "events": 24 * 9, "leaves": 24 * 9}),
    ("lines --matches 60", None, lambda: {"matches": 60, "plies": plies(60)}),
    ("lists --matches 100 --buckets 1,3", None, dict),
    ("browser --runs 1", None, dict),
    # the start has two events, and the end one
    ("rebuild --matches 24 --plies 6 --processes 1,2 --peer-events 20", "eventsourcing_sqlite", lambda: {"leaves": 24 * 9}),
    ("retire --counts 40,300 --plies 4", None, dict),
    ("running --counts 80,400 --plies 4 --repeats 20", None, dict),
    ("rules --plies 200", "python_chess", lambda: {"perft leaves": 105_300}),
    ("replay --matches 10", "eventsourcing_sqlite", lambda: {"events": plies(10) + 20}),
    ("cluster --nodes 2 --workers 1 --matches 4 --http-matches 2", "redis_limit, nodes: 2;redis_limit, one server", dict),
]  # fmt: skip
"""Words, the peers that are measured, too, and some figures that are known before."""


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("words", "peers", "known"), MEASURED)
def test_a_benchmark_measures_what_it_says(
    words: str, peers: str | None, known: Callable[[], dict[str, Any]]
):
    if words.startswith("lone") and not shutil.which("cc"):
        pytest.skip("no C compiler, which makes the slower disk")
    if words.startswith("browser") and not any(map(shutil.which, BROWSERS)):
        pytest.skip("no Chromium")
    found = bench(*words.split())
    assert peers is None or set(found["peers"]) == set(peers.split(";"))
    assert known().items() <= found["details"].items()


def test_what_an_idle_server_does_is_no_cost_of_a_move() -> None:
    # in 10 s without moves 20 GETs and 100 bytes; in 20 s with 4 moves 8 SETs and 400 bytes more
    before = CommandCounts(0.0, 1_000, {"get": 5})
    idle = CommandCounts(10.0, 1_100, {"get": 25})
    after = CommandCounts(30.0, 1_700, {"get": 65, "set": 8})
    cost = cost_of_moves(before, idle, after, 4)
    assert cost.commands == {"get": 0, "set": 2}
    assert (cost.aof_bytes, cost.idle) == (100, 2)


def test_words_that_name_no_benchmark_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["nothing"], ["memory", "--plies", "0"], ["rules", "--plies"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert (ended.value.code, "python -m bench" in capsys.readouterr().err) == (2, True)


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


def test_all_benchmarks_make_one_table_in_its_place_and_one_that_fails_is_named_there(monkeypatch):
    assert set(SIZES) <= set(BENCHMARKS)
    report = {"rate": 1234.4, "unit": "moves", "peers": {"rq": 12.3}, "ratios": {"rq": 100.36}}
    monkeypatch.setitem(SIZES, "rules", "--game nothing")
    failed = run_one("rules")
    assert failed.report is None
    lines = list(table([BenchRun("bench pipeline --matches 3", report, "", 65.4), failed]))
    assert lines[2:] == [
        "| `bench pipeline --matches 3` | 1,234 moves/s | rq 12 (100.36 x) | 65 s |",
        f"| `bench rules --game nothing` | failed: {failed.problem} | | {failed.seconds:.0f} s |",
    ]
    page = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert with_table(page, lines[2:3]) == page.replace("old", lines[2])
    with pytest.raises(ValueError, match="bench-all"):
        with_table("no place", lines)
    assert BEGIN in (ROOT / "trials" / "benchmarks.md").read_text("utf-8")
