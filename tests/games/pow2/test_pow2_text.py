"""Both drawings of the Power of Two board, against the figures of the source.

What the help page of the Power of Two shows and says is what the rules do.
"""

import re
from itertools import product
from pathlib import Path

import pytest

from domain.boards.pow2_board import LARGE, NAMES, SMALL, draw_board
from domain.drawing import draw_text
from domain.errors import Code, Refusal
from domain.games.pow2.rules import Pow2Start
from domain.rules import latest_rules
from tests.games.pow2.boards import FIGURE_3, NO_MOVE, WON
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


def test_the_board_of_figure_3_is_drawn_as_there():
    assert draw_board(FIGURE_3, "large") == figure(3)


@pytest.mark.parametrize(("display", "lines"), [("large", 27), ("small", 15)])
def test_a_drawing_is_a_line_of_counts_a_blank_line_and_the_board(display, lines):
    drawn = draw_text(RULES, start("-fast"), display).split("\n")
    assert len(drawn) == 2 + lines
    assert drawn[:2] == ["Remaining Pieces: Light 12 Dark 12", ""]


def test_the_first_display_is_the_large_one():
    assert RULES.displays == ("large", "small")


def test_every_mark_of_the_large_drawing_stands_where_the_rules_say():
    for name in NAMES:
        rows = draw_board({name: "?"}, "large").split("\n")[1:]
        line = LINE_OF.get(name, LINES[int(name[1:])])
        assert rows[line][COLUMN_OF.get(name, COLUMNS[name[0]])] == "?"


def test_every_mark_of_the_small_drawing_stands_in_its_cell():
    for name in NAMES:
        rows = draw_board({name: "?"}, "small").split("\n")
        assert rows[int(name[1:])][3 + 2 * (ord(name[0]) - ord("a"))] == "?"


@pytest.mark.parametrize(("display", "template"), [("large", LARGE), ("small", SMALL)])
def test_only_the_64_marks_change(display, template):
    full = draw_board(dict.fromkeys(NAMES, "?"), display)
    assert full.count("?") == template.count("*") == 64
    assert full == template.strip("\n").replace("*", "?")


def test_no_line_ends_with_a_blank():
    for display, flags in product(RULES.displays, ([], ["-fast"], ["-middle"], ["-free"])):
        drawn = draw_text(RULES, start(*flags), display)
        assert all(line == line.rstrip() for line in drawn.split("\n"))


@pytest.mark.parametrize("display", ["", "Large", "svg", "middle"])
def test_an_unknown_display_is_refused(display):
    with pytest.raises(Refusal) as refusal:
        draw_text(RULES, start(), display)
    assert refusal.value.code is Code.BAD_OPTION
    assert refusal.value.sentence == (f"pow2 has no display {display!r}; known are large, small")


@pytest.mark.parametrize(
    ("board", "detail"),
    [(WON, "Light has all 16 pieces on the board"), (NO_MOVE, "Dark has no legal move")],
)
def test_a_finished_position_is_drawn_with_the_reason_of_its_result(board, detail):
    drawn = draw_text(RULES, position(board, DARK), "small").split("\n")
    assert drawn[-2:] == ["", detail]
    assert len(drawn) == 19


PAGE = (Path(__file__).parents[3] / "domain/games/pow2/help.txt").read_text()


def played(*texts):
    at = RULES.start(RULES.read_options([]), 2, None)
    for text in texts:
        at = RULES.play(at, RULES.check(at, RULES.read(text)))
    return at


def test_the_page_is_plain_text_of_at_most_78_columns():
    assert PAGE.isascii()
    assert all(len(line) <= 78 and line == line.rstrip() for line in PAGE.splitlines())


def test_the_boards_on_the_page_are_the_drawn_ones():
    assert draw_text(RULES, played(), "large") in PAGE
    assert draw_text(RULES, played("m13-m5:l4", "a13-c11"), "small") in PAGE


def test_the_moves_of_the_example_are_all_there_are():
    texts = list(RULES.legal_moves(played("m13-m5:l4", "a13-c11")))
    assert [text for text in texts if text.startswith("l4-k3")] == ["l4-k3:j2", "l4-k3:l4"]
    after = RULES.to_json(played("m13-m5:l4", "a13-c11", "l4-k3:j2"))
    assert "m1" not in after["board"]


def test_every_move_on_the_page_is_canonical_notation():
    for text in re.findall(r"\b[a-m]\d+-[a-m]\d+(?::[a-m]\d+(?:,[a-m]\d+)*)?", PAGE):
        if not text.startswith("a1-d3"):  # quoted as the error it is
            assert RULES.write(RULES.read(text)) == text


def test_every_option_is_explained():
    for flag in ("exact", "noborder", *(start for start in Pow2Start if start)):
        assert re.search(rf"^  -{flag}  ", PAGE, re.MULTILINE)
