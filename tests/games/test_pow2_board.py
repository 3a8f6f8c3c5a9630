"""The Power of Two board, checked against the rules' figures and a reference by fractions."""

from pathlib import Path

from domain.boards import pow2_board
from domain.boards.pow2_board import (
    INDEX,
    LINES,
    NAMES,
    SMALL,
)
from tests.games.pow2 import reference

GAMES = Path(__file__).parent


def board(names):
    return sum(1 << INDEX[name] for name in names.split())


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
