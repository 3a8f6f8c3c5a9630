"""A benchmark measures real work, and says so in the agreed form."""

import json
import subprocess

import pytest
from fakes.served import SCRIPT

from domain.match.decide import Decided, decide
from domain.match.record import NO_MATCH, Snapshot, seal
from services.cli.bench.workload import games, moves, starts


@pytest.mark.slow
def test_the_pipeline_prints_one_object_with_a_rate_and_a_ratio_for_each_peer() -> None:
    done = subprocess.run(
        [SCRIPT, "bench", "pipeline", "--json", "--matches", "8", "--peer-jobs", "60"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"rate", "unit", "peers", "ratios", "details"}
    assert found["unit"] == "moves"
    peer = found["peers"]["rq_job_per_move"]
    assert found["ratios"]["rq_job_per_move"] == pytest.approx(found["rate"] / peer, rel=0.01)
    assert found["details"]["moves"] == sum(len(game.moves) for game in games(8))
    assert found["details"]["median fdatasync ms"] > 0


def test_the_workload_is_whole_games_that_are_accepted_in_the_order_given() -> None:
    played = games(3)
    snapshots: dict[int, Snapshot] = {}
    for sent in [*starts(played), *moves(played)]:
        before = snapshots.get(sent.match, NO_MATCH)
        decided = decide(sent, before.state)
        assert isinstance(decided, Decided), decided
        _, snapshots[sent.match] = seal(sent, decided, before, 1)
    assert len(snapshots) == 3
    assert all(snapshot.state.over for snapshot in snapshots.values())


def test_the_workload_is_the_same_each_time() -> None:
    assert games(2) == games(2)
