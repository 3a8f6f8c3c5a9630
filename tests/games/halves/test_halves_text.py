"""The tiles of halves, against every picture of the source, with numbers, and in all phases.

What the help pages of halves show and say, in both languages, is what the rules do.
"""

import re
from itertools import zip_longest
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.halves.drawing import draw_tiles
from domain.games.halves.position import HalvesOptions, KeepRule, TouchRule
from domain.rules import latest_rules
from tests.games.halves.given import WANING, play, position, start

GOLDEN = Path(__file__).parent
RULES = latest_rules("halves")
# by number, in the example of the source
EXAMPLE = {1: (2, 0, 0), 2: (1, 1, 0), 3: (3, 0, 1), 4: (0, 2, 0), 5: (2, 1, 1)}
FRAME = [(q, r) for q, r, _ in EXAMPLE.values()]


def picture(name):
    return (GOLDEN / f"{name}.txt").read_text().removesuffix("\n")


def tiles(*numbers):
    return [(*EXAMPLE[number], None) for number in numbers]


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("start-two", draw_tiles([(0, 0, 0, None), (0, 1, 1, None)], [(0, 0)])),
        ("start-three",
         draw_tiles([(0, 0, 0, None), (0, 1, 1, None), (1, 0, 2, None)], [(0, 0)])),
        ("waning-1", draw_tiles(tiles(1, 2, 3, 4, 5), FRAME)),
        ("waning-2", draw_tiles(tiles(1, 3, 4, 5), FRAME)),
        ("waning-3", draw_tiles(tiles(1, 3, 5), FRAME)),
    ],
)  # fmt: skip
def test_every_picture_of_the_source_is_drawn_as_there(name, drawn):
    assert drawn == picture(name)


PAGES = [
    (Path(__file__).parents[3] / f"domain/games/halves/help{language}.txt").read_text()
    for language in ("", ".de")
]


@pytest.mark.parametrize("page", PAGES)
def test_the_boards_on_the_pages_are_the_drawn_ones(page):
    at = position(WANING, 0)
    assert draw_text(RULES, at, "numbered") in page
    assert draw_text(RULES, play(at, "2"), "numbered") in page
    assert draw_text(RULES, start("-manual_start"), "numbered") in page
    two, three = picture("start-two").split("\n"), picture("start-three").split("\n")
    both = (f"{one:21}{other}".rstrip() for one, other in zip_longest(two, three, fillvalue=""))
    assert "\n".join(both) in page


@pytest.mark.parametrize("page", PAGES)
def test_every_move_on_the_pages_is_canonical_notation(page):
    moves = re.findall(r"^  (\d+(?:,\d+)?|keep|swap)  ", page, re.MULTILINE)
    assert moves == ["3", "4,2", "keep", "swap"]
    assert [RULES.write(RULES.read(text)) for text in moves] == moves


@pytest.mark.parametrize("page", PAGES)
def test_every_option_and_display_is_explained(page):
    numbers = {"tiles_each": "=N", "free_edges": "=N", "must_touch": "=2"}
    fields = set(HalvesOptions.__struct_fields__) - {"touch", "keep"}
    for flag in (*fields, *TouchRule, *KeepRule):
        assert re.search(rf"^  -{flag}{numbers.get(flag, '')}  ", page, re.MULTILINE)
    assert f"--display={RULES.displays[1]}" in page
