"""`bench cluster` measures real nodes, and what it prints can be read."""

import pytest

from bench.cluster import ClusterRun
from bench.node_figures import between, per_move
from bench.report import detail_lines
from bench.workload import PlannedGame, games
from infra.redis.keys import slot_of
from tests.bench.test_bench import bench


@pytest.mark.long
@pytest.mark.slow
def test_a_cluster_is_measured_in_bulk_and_over_http() -> None:
    words = ("--nodes", "2", "--workers", "1", "--matches", "4", "--http-matches", "2")
    found = bench("cluster", *words)
    assert found["unit"] == "moves"
    assert set(found["peers"]) == {"redis_limit, nodes: 2", "redis_limit, one server"}
    in_bulk = found["details"]["nodes: 2, workers: 1"]
    nodes = in_bulk["nodes, for each of their moves"]
    assert [node["moves"] for node in nodes] == _moves_of_two_nodes(games(4))
    for node in nodes:
        # at least the command's submit and its commit
        assert node["commands"] > 2
        assert min(node["bytes in"], node["log bytes"]) > 100
        assert 0 < node["sync us"] < node["busy us"]
        assert node["barriers"] > 0
    used = in_bulk["processor us a move"]
    assert set(used) == {"nodes", "server of the queue", "submitting", "workers"}
    assert found["rate"] == in_bulk["moves a second"]
    over_http = found["details"]["nodes: 2, over HTTP"]
    assert over_http["moves"] == sum(len(game.moves) for game in games(34)[32:])
    assert len(over_http["nodes, for each of their moves"]) == 2
    assert {"nodes", "web", "worker", "side"} < over_http["processor us a move"].keys()


def _moves_of_two_nodes(played: list[PlannedGame]) -> list[int]:
    """Return how many moves are in the lower and in the upper half of the slots."""
    on_first = [slot_of(game.board % 64) < 8_192 for game in played]
    moves = [len(game.moves) for game in played]
    first = sum(count for count, here in zip(moves, on_first, strict=True) if here)
    return [first, sum(moves) - first]


def test_figures_are_those_between_two_moments() -> None:
    found = between({"commands": 10, "bytes in": 100}, {"commands": 50, "bytes in": 300})
    assert found == {"commands": 40, "bytes in": 200}
    assert per_move(found, 20)["commands"] == 2


def test_a_node_is_the_wall_when_its_core_or_its_disk_has_no_time_left() -> None:
    # 100 moves took two nodes 10 ms of their cores, 20 ms of syncs, and 40 ms in all
    node = {"processor us": 5_000, "sync us": 10_000, "busy us": 20_000}
    walls = ClusterRun(1.0, {}, [node, node], [50, 50]).walls()
    assert list(walls.values()) == [10_000, 5_000, 2_500]


def test_details_with_several_figures_are_printed_below_their_name() -> None:
    lines = list(detail_lines({"a": {"b": {"c": 1, "d": 2}, "e": [{"f": 3}]}, "g": [4, 5]}))
    assert lines == ["a:", "  b:", "    c 1, d 2", "  e:", "    f 3", "g: [4, 5]"]
