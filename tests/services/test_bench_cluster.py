"""The figures of nodes are computed from their counts, and can be read."""

from services.bench.cluster import ClusterRun
from services.bench.node_figures import NodeFigures
from services.bench.report import detail_lines


def _figures(**own: int) -> NodeFigures:
    return NodeFigures(**dict.fromkeys(NodeFigures.__struct_fields__, 0) | own)


def test_figures_are_those_between_two_moments() -> None:
    then, now = _figures(commands=10, bytes_in=100), _figures(commands=50, bytes_in=300)
    assert now.since(then) == _figures(commands=40, bytes_in=200)
    assert now.since(then).per_move(20)["commands"] == 2


def test_a_node_is_the_wall_when_its_core_or_its_disk_has_no_time_left() -> None:
    # 100 moves took two nodes 10 ms of their cores, 20 ms of syncs, and 40 ms in all
    node = _figures(processor_us=5_000, sync_us=10_000, busy_us=20_000)
    walls = ClusterRun(1.0, {}, [node, node], [50, 50]).walls()
    assert list(walls.values()) == [10_000, 5_000, 2_500]


def test_details_with_several_figures_are_printed_below_their_name() -> None:
    lines = list(detail_lines({"a": {"b": {"c": 1, "d": 2}, "e": [{"f": 3}]}, "g": [4, 5]}))
    assert lines == ["a:", "  b:", "    c 1, d 2", "  e:", "    f 3", "g: [4, 5]"]
