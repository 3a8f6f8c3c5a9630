"""The Power of Two board, checked against the rules' figures and a reference by fractions."""

from itertools import combinations
from pathlib import Path

import pytest

from domain.boards import pow2_board
from domain.boards.pow2_board import (
    ADJACENT,
    INDEX,
    LINES,
    NAMES,
    SLIDES,
    SLIDES_INSIDE,
    SMALL,
    TRIANGLES,
)
from tests.games.pow2 import reference

GAMES = Path(__file__).parent


def board(names):
    return sum(1 << INDEX[name] for name in names.split())


def test_there_are_64_intersections_44_lines_168_edges_and_104_triangles():
    assert len(NAMES) == 64
    assert len(LINES) == 44
    assert len({frozenset(edge) for edge in pow2_board.EDGES}) == len(pow2_board.EDGES) == 168
    assert len({frozenset(triangle) for triangle in TRIANGLES}) == len(TRIANGLES) == 104


def test_vertices_edges_and_faces_obey_euler():
    """The faces are the triangles, the centre and the outside."""
    assert len(NAMES) - len(pow2_board.EDGES) + len(TRIANGLES) + 2 == 2


def test_the_outer_edges_come_first():
    assert [(NAMES[line[0]], NAMES[line[-1]]) for line in pow2_board.OUTER] == [
        ("a1", "a13"), ("m1", "m13"), ("a1", "m1"), ("a13", "m13"),
    ]  # fmt: skip


def test_names_are_the_marks_of_figure_1():
    figure = (GAMES / "pow2/figure-1.txt").read_text().splitlines()[3:16]
    marks = {
        f"{'abcdefghijklm'[(column - 3) // 2]}{row}"
        for row, line in enumerate(figure, start=1)
        for column, mark in enumerate(line)
        if mark in "*OX" and 3 <= column < 29
    }
    assert marks == set(NAMES)
    assert SMALL.count("*") == 64


def test_lines_equal_those_found_by_fractions():
    ours = {frozenset(NAMES[at] for at in line) for line in LINES}
    assert ours == {frozenset(line) for line in reference.BOARD_LINES}
    by_end = [[NAMES[at] for at in line] for line in LINES]
    assert all(
        line in reference.BOARD_LINES or line[::-1] in reference.BOARD_LINES for line in by_end
    )


def test_points_are_fifteenths_of_the_exact_crossings():
    exact = {name: (x * 15, y * 15) for (x, y), name in reference.POINTS.items()}
    assert exact == pow2_board.POINTS


def test_adjacent_means_joined_by_one_edge():
    for name in NAMES:
        assert set(pow2_board.names_of(ADJACENT[INDEX[name]])) == reference.NEAR[name]


def test_triangles_are_three_mutually_adjacent_intersections():
    expected = {
        frozenset(three)
        for three in combinations(NAMES, 3)
        if all(b in reference.NEAR[a] for a, b in combinations(three, 2))
    }
    assert {frozenset(NAMES[at] for at in triangle) for triangle in TRIANGLES} == expected


def reached(slides, origin, occupied):
    return {
        NAMES[target]
        for line, reach in slides[INDEX[origin]]
        for target, _ in reach[line & occupied]
    }


@pytest.mark.parametrize(("origin", "occupied"), [("a1", ""), ("m13", "m9 h8 i9"), ("c5", "b4 e5")])
@pytest.mark.parametrize(("slides", "noborder"), [(SLIDES, False), (SLIDES_INSIDE, True)])
def test_sliding_ends_before_the_first_piece(origin, occupied, slides, noborder):
    blocked = board(occupied)
    expected = reference.slides(set(occupied.split()), origin, noborder=noborder)
    assert reached(slides, origin, blocked) == set(expected)


def test_the_board_can_always_take_eight_pieces_none_next_to_another():
    """Every maximal such set has eleven or more, so the placing phase of -free never sticks."""
    everywhere = (1 << 64) - 1

    def smallest(free, placed, best):
        if placed >= best or not free:
            return min(placed, best) if not free else best
        first = (free & -free).bit_length() - 1
        for at in pow2_board.bits((ADJACENT[first] | 1 << first) & free):
            best = smallest(free & ~(ADJACENT[at] | 1 << at), placed + 1, best)
        return best

    assert smallest(everywhere, 0, 64) == 11


def test_what_is_seen_from_an_intersection_is_all_on_its_lines():
    for at, name in enumerate(NAMES):
        on = {other for line in reference.BOARD_LINES if name in line for other in line}
        assert set(pow2_board.names_of(pow2_board.ON_COMMON_LINE[at])) == on


def test_jumps_lead_over_the_next_intersection_of_a_line_to_the_one_behind():
    for at, name in enumerate(NAMES):
        expected = {
            (line[place + 2 * way], line[place + way])
            for line in reference.BOARD_LINES
            if name in line
            for place in [line.index(name)]
            for way in (1, -1)
            if 0 <= place + 2 * way < len(line)
        }
        jumps = pow2_board.JUMPS[at]
        found = [(NAMES[to], *pow2_board.names_of(over)) for to, over, _ in jumps]
        assert set(found) == expected
        assert len({to for to, _ in found}) == len(found)  # a landing tells what is jumped over
        assert all(landing == 1 << to for to, _, landing in jumps)
        assert list(jumps) == sorted(jumps)
