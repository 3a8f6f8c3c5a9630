"""The tiles of halves, against every picture of the source, with numbers, and in all phases.

What the help pages of halves show and say, in both languages, is what the rules do.
"""

import re
from itertools import pairwise, zip_longest
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.halves.drawing import draw_tiles
from domain.games.halves.position import HalvesOptions, KeepRule, TouchRule
from domain.rules import latest_rules
from tests.games.halves.given import WANING, play, position, start
from tests.games.svg_pictures import (
    SVG,
    parsed,
    recorded,
    with_class,
)
from tests.golden.make_games import replay

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


# --- halves in SVG: tiles, cells, what the last move did


def svg_tiles(tree):
    return {
        tuple(map(int, each.get("data-cell").split(","))): each
        for each in tree.iter(f"{SVG}g")
        if each.get("data-cell")
    }


@pytest.mark.parametrize("family", ["2", "2 -manual_start"])
def test_tiles_and_free_cells_are_places_by_their_numbers(family):
    for at in replay(recorded("halves", family)):
        shown, tree = latest_rules("halves").to_json(at), parsed("halves", at)
        cells = {(q, r): str(number) for q, r, number in shown.get("cells", ())}
        named = {(q, r): str(number) for q, r, _, number in shown["tiles"] if number}
        drawn = svg_tiles(tree)
        found = {cell: each.get("data-place") for cell, each in drawn.items()}
        assert {cell: name for cell, name in found.items() if name} == cells | named
        for cell in cells | named:
            assert with_class(drawn[cell], "number")[0].text == found[cell]
            assert len(with_class(drawn[cell], "hit")) == 1
            assert ("free" in drawn[cell].get("class").split()) == (cell in cells)


def test_the_tile_taken_last_leaves_a_mark_and_what_fell_off_too_if_before_is_known():
    game = recorded("halves")
    moves, played = game["moves"].split(), list(replay(game))
    fallen = 0
    for last, (before, at) in zip(moves, pairwise(played), strict=True):
        there = [
            {(q, r): number for q, r, _, number in latest_rules("halves").to_json(each)["tiles"]}
            for each in (before, at)
        ]
        gone = set(there[0]) - set(there[1])
        taken = {cell for cell in gone if str(there[0][cell]) == last.partition(",")[0]}
        for expected, more in ((taken, {}), (gone, {"before": before})):
            drawn = svg_tiles(parsed("halves", at, last=last, **more))
            assert {cell for cell, each in drawn.items() if with_class(each, "ring")} == expected
        fallen += len(gone) - len(taken)
    assert fallen > 0
