"""A benchmark measures real work, and says so in the agreed form; what it prints can be read."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from bench import idle
from bench.__main__ import BENCHMARKS
from bench.all import BEGIN, END, SIZES, BenchRun, run_one, table, with_table
from bench.browser import BROWSERS
from bench.cluster import ClusterRun
from bench.local_cluster import local_cluster
from bench.lone import CommandCounts, cost_of_moves
from bench.node_figures import between, per_move
from bench.report import detail_lines
from bench.workload import games, moves, starts
from domain.match.decide import decide
from domain.match.decision import Decision
from domain.match.history import EMPTY_SNAPSHOT, Snapshot, chain_events
from infra.redis.clients import make_client
from infra.redis.cluster import servers_of

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


HAS_COMPILER = shutil.which("cc") is not None
"""The slower disk is made by a C compiler."""


def check_publish(details: dict[str, Any]) -> None:
    # the moves, the starts, and in each of the four shards the anchor of its draws
    assert details["leaves"] == 4 + 4 + sum(len(game.moves) for game in games(4))
    assert details["lag, s"]["most"] >= details["lag, s"]["median"]


def check_lone(details: dict[str, Any]) -> None:
    # at least the submit and the commit, each synced: 2 ms and more
    assert details["median_ms_2"] > 4
    assert details["commands"] > details["by command"]["evalsha"] >= 2
    # its own, and the publisher's afterwards, which may be one for both moves; that of the idle server,
    # which is subtracted, comes every ten seconds, so once in three of these windows
    assert 0 < details["by command"]["waitaof"] < 4


def check_terminal(details: dict[str, Any]) -> None:
    taken = details["ms at the median"]
    asked, alone = (taken[f"matchpost do, show{how}"]["processor"] for how in ("", ", alone"))
    assert asked < alone / 2, "the server has imported what a command alone has to import"


def check_upgrade(details: dict[str, Any]) -> None:
    stopped, replaced = details["stop and start"], details["in place"]
    assert (details["moves lost"], replaced["tries refused"]) == (0, 0)
    assert replaced["longest, seconds"] < stopped["longest, seconds"]


def check_idle(details: dict[str, Any]) -> None:
    rest, peer = details["at rest"], details["peer"]
    # serve, two Valkeys, web, worker, robots and the gathered roles
    assert (rest["processes"], peer["processes"]) == (7, 2)
    assert 0 < peer["pss_mib"] < rest["pss_mib"] < 250


def check_browser(details: dict[str, Any]) -> None:
    loads = [part for name, part in details.items() if ", " in name]
    assert len(loads) == 6
    for parts in loads:
        # scripts and style are kept, and the page is not
        assert 2 <= parts["warm"]["requests"] < parts["cold"]["requests"]


def check_running(details: dict[str, Any]) -> None:
    # fewer rows and names of a page are the same of fewer matches
    for what in ("a move", "a player's matches", "a game's, from the middle", "a second"):
        cost = details["most to least"][what]["commands"]
        assert cost == pytest.approx(1, abs=0.1)


def check_cluster(details: dict[str, Any]) -> None:
    for node in details["nodes: 2, workers: 1"]["nodes, for each of their moves"]:
        # at least the command's submit and its commit
        assert node["commands"] > 2
        assert 0 < node["sync us"] < node["busy us"]


MOVES = {"moves": sum(len(game.moves) for game in games(4))}
VERIFIED = {"matches": 24, "events": 24 * 9, "leaves": 24 * 9}
"""The start has two events, and the end one."""
MEASURED = [
    ("pipeline --matches 4 --peer-jobs 20", "rq_job_per_move;redis_limit;eventsourcing_sqlite", MOVES),
    ("publish --matches 4", "moves_decided_alone;moves_decided_beside", check_publish),
    ("robots --matches 20 --seconds 2 --pause 1", None, {"people's moves": 100, "matches of robots": 20}),
    ("http --clients 2 --matches 1 --runs 3", None, {"moves": sum(len(game.moves) for game in games(6)[2:4])}),
    ("lone --moves 2 --pause 1 --settle 3", None, check_lone),
    ("terminal --rounds 2", None, check_terminal),
    ("pages --requests 20", "empty_page", {}),
    ("upgrade --matches 2 --seconds 1 --times 1", None, check_upgrade),
    ("idle --runs 1 --settle 1 --seconds 3", "a bare Valkey and an empty web process", check_idle),
    ("memory --matches 200 --plies 40", None, {}),
    ("verify --matches 24 --plies 6", None, VERIFIED),
    ("lines --matches 60", None, {"matches": 60, "plies": sum(len(game.moves) for game in games(60))}),
    ("lists --matches 100 --buckets 1,3", None, {}),
    ("browser --runs 1", None, check_browser),
    ("rebuild --matches 24 --plies 6 --processes 1,2 --peer-events 20", "eventsourcing_sqlite", {"leaves": 24 * 9}),
    ("retire --counts 40,300 --plies 4", None, {}),
    ("running --counts 80,400 --plies 4 --repeats 20", None, check_running),
    ("rules --plies 200", "python_chess", {"perft leaves": 105_300}),
    ("replay --matches 10", "eventsourcing_sqlite", {"events": sum(len(game.moves) + 2 for game in games(10))}),
    ("cluster --nodes 2 --workers 1 --matches 4 --http-matches 2", "redis_limit, nodes: 2;redis_limit, one server", check_cluster),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("words", "peers", "check"), MEASURED)
def test_a_benchmark_measures_what_it_says(words: str, peers: str | None, check: Any) -> None:
    if words.startswith("lone") and not HAS_COMPILER:
        pytest.skip("no C compiler")
    if words.startswith("browser") and not any(map(shutil.which, BROWSERS)):
        pytest.skip("no Chromium")
    found = bench(*words.split())
    assert peers is None or set(found["peers"]) == set(peers.split(";"))
    if isinstance(check, dict):
        assert check.items() <= found["details"].items()
    else:
        check(found["details"])


def test_what_an_idle_server_does_is_no_cost_of_a_move() -> None:
    # in 10 s without moves 20 GETs and 100 bytes; in 20 s with 4 moves 8 SETs and 400 bytes more
    before = CommandCounts(0.0, 1_000, {"get": 5})
    idle = CommandCounts(10.0, 1_100, {"get": 25})
    after = CommandCounts(30.0, 1_700, {"get": 65, "set": 8})
    cost = cost_of_moves(before, idle, after, 4)
    assert cost.commands == {"get": 0, "set": 2}
    assert (cost.aof_bytes, cost.idle) == (100, 2)


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


def test_figures_of_nodes_are_those_between_two_moments_and_name_the_wall() -> None:
    found = between({"commands": 10, "bytes in": 100}, {"commands": 50, "bytes in": 300})
    assert found == {"commands": 40, "bytes in": 200}
    assert per_move(found, 20)["commands"] == 2
    # 100 moves took two nodes 10 ms of their cores, 20 ms of syncs, and 40 ms in all
    node = {"processor us": 5_000, "sync us": 10_000, "busy us": 20_000}
    walls = ClusterRun(1.0, {}, [node, node], [50, 50]).walls()
    assert list(walls.values()) == [10_000, 5_000, 2_500]
    lines = list(detail_lines({"a": {"b": {"c": 1, "d": 2}, "e": [{"f": 3}]}, "g": [4, 5]}))
    assert lines == ["a:", "  b:", "    c 1, d 2", "  e:", "    f 3", "g: [4, 5]"]


@pytest.mark.parametrize("count", [1, 2])
def test_each_node_of_a_local_cluster_serves_its_share_and_syncs(tmp_path: Path, count: int):
    with local_cluster(tmp_path, count) as cluster, make_client(cluster.url) as client:
        for number in range(40):
            client.set(f"key {number}", number)
        nodes = servers_of(client)
        counts = [node.dbsize() for node in nodes]
        assert (len(counts), sum(counts)) == (count, 40)
        assert min(counts) > 0
        for node in nodes:
            assert node.config_get("appendfsync")["appendfsync"] == "always"
            assert b"cluster_slots_ok:16384" in node.execute_command("CLUSTER", "INFO")
        ended = cluster.nodes
    assert [node.pid for node in ended] == [None] * count


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


def test_processes_that_end_while_they_are_watched_count_with_all_their_time():
    burn = "import time\nwhile time.process_time() < 0.4: pass"
    code = (
        "import subprocess, sys, time; burn = sys.argv[1]; "
        "first = subprocess.Popen([sys.executable, '-c', burn]); print(flush=True); input(); "
        "first.wait(); subprocess.run([sys.executable, '-c', burn]); print(flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, burn], stdin=PIPE, stdout=PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        assert len(idle._trees([process.pid])) == 2
        process.stdin.write("\n")
        process.stdout.readline()
        assert idle._trees([process.pid]) == [process.pid]
        assert 0.8 <= idle._processor([process.pid]) < 4
        rest = idle._rest_of([process.pid], 0)
        assert (rest.processes, rest.ended) == (1, 0)
        process.stdin.write("\n")
    assert (idle._trees([process.pid]), idle._pss(process.pid)) == ([process.pid], 0)
