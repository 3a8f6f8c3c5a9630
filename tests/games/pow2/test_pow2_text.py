"""Both drawings of the Power of Two board, against the figures of the source.

What the help page of the Power of Two shows and says is what the rules do.
"""

from pathlib import Path

import pytest

from domain.boards.pow2_board import NAMES, draw_board
from domain.drawing import draw_text
from domain.rules import latest_rules
from tests.games.pow2.boards import NO_MOVE, WON
from tests.games.pow2.given import DARK, position

GOLDEN = Path(__file__).parent
RULES = latest_rules("pow2")

# where the marks stand, by column letter and row number, with the exceptions
COLUMNS = dict(
    zip("abcdefghijklm", (5, 11, 13, 16, 21, 24, 29, 34, 37, 42, 45, 47, 53), strict=True)
)
COLUMN_OF = {"c6": 15, "c8": 15, "d4": 17, "d7": 17, "d10": 17, "f6": 25, "f8": 25} | {
    "h6": 33, "h8": 33, "j4": 41, "j7": 41, "j10": 41, "k6": 43, "k8": 43,
}  # fmt: skip
LINES = dict(zip(range(1, 14), (0, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 21, 24), strict=True))
LINE_OF = {"f3": 5, "h3": 5, "f11": 19, "h11": 19}


def figure(number):
    return (GOLDEN / f"figure-{number}.txt").read_text().removesuffix("\n")


def start(*flags):
    return RULES.start(RULES.read_options(flags), 2, None)


@pytest.mark.parametrize(
    ("number", "flags", "display"),
    [
        (1, [], "small"),
        (2, [], "large"),
        (4, ["-fast"], "small"),
        (5, ["-middle"], "small"),
    ],
)
def test_starting_positions_are_drawn_as_in_the_figures(number, flags, display):
    assert draw_text(RULES, start(*flags), display) == figure(number)


def test_every_mark_of_the_large_drawing_stands_where_the_rules_say():
    for name in NAMES:
        rows = draw_board({name: "?"}, "large").split("\n")[1:]
        line = LINE_OF.get(name, LINES[int(name[1:])])
        assert rows[line][COLUMN_OF.get(name, COLUMNS[name[0]])] == "?"


@pytest.mark.parametrize(
    ("board", "detail"),
    [(WON, "Light has all 16 pieces on the board"), (NO_MOVE, "Dark has no legal move")],
)
def test_a_finished_position_is_drawn_with_the_reason_of_its_result(board, detail):
    drawn = draw_text(RULES, position(board, DARK), "small").split("\n")
    assert drawn[-2:] == ["", detail]
    assert len(drawn) == 19
