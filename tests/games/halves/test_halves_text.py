"""The tiles of halves, against every picture of the source, with numbers, and in all phases.

What the help pages of halves show and say, in both languages, is what the rules do.
"""

import re
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.drawing import draw_text
from domain.errors import Refusal
from domain.games.halves.drawing import draw_tiles
from domain.games.halves.position import HalvesOptions, KeepRule, TouchRule
from domain.rules import latest_rules
from tests.games.halves.given import WANING, legal, options, play, position, positions, start

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


def test_positions_of_the_source_are_drawn_plain_as_there():
    at = position(WANING, 0)
    assert draw_text(RULES, at, "plain") == (
        f"Tiles: A 3 (blank)  B 2 (dots)\n\n{picture('waning-1')}"
    )
    assert draw_text(RULES, play(at, "2"), "plain") == (
        f"Tiles: A 1 (blank)  B 2 (dots)\n\n{picture('waning-3')}"
    )
    three = draw_text(RULES, start("-manual_start", players=3), "plain")
    assert three == f"Tiles: A 1 (blank)  B 1 (dots)  C 1 (dashes)\n\n{picture('start-three')}"


def test_numbers_stand_in_the_middle_row():
    drawn = draw_tiles([(0, 0, 1, 7), (0, 1, 2, 42), (0, 2, 0, 180)], [(0, 0)]).split("\n")
    assert [drawn[line] for line in (1, 2, 3)] == [" / . . \\", "/   7   \\", "\\  . .  /"]
    assert [drawn[line] for line in (6, 10)] == ["/  42   \\", "/  180  \\"]


def test_while_tiles_are_placed_the_free_cells_have_numbers():
    drawn = draw_text(RULES, start("-manual_start"), "numbered").split("\n")
    assert drawn == [
        "Tiles: A 1 (blank)  B 1 (dots)",
        "",
        "         _____",
        "        /     \\",
        "       /       \\",
        "       \\       /",
        "    1   \\_____/   2",
        "        / . . \\",
        "       / . . . \\",
        "       \\  . .  /",
        "    3   \\_____/   4",
        "",
        "           5",
    ]


def test_colours_that_were_swapped_and_a_player_who_is_out_are_shown_above():
    at = RULES.remove_seat(play(start("-tiles_each=2", players=3), "swap"), 2)
    drawn = draw_text(RULES, at, "numbered").split("\n")
    assert drawn[0] == "Tiles: A 2 (dots)  B 2 (blank)  C 2 (dashes, out)"


def test_a_finished_position_is_drawn_with_the_reason_of_its_result():
    at = play(position(WANING, 0), "2", "3", "1")
    assert draw_text(RULES, at, "numbered").split("\n")[-2:] == ["", "A has no tile left"]


@settings(max_examples=40)
@given(positions(), st.sampled_from(RULES.displays))
def test_every_tile_keeps_its_place_to_the_end_of_the_match(drawn, display):
    _, at = drawn
    shown = RULES.to_json(at)
    lines = draw_text(RULES, at, display).split("\n")
    assert all(line == line.rstrip() for line in lines)
    ever = [*shown["tiles"], *shown.get("gone", [])]
    ever += shown.get("cells", []) if display == "numbered" else []
    left, top = min(t[0] for t in ever), min(2 * t[1] + t[0] for t in ever)
    for q, r, _, number in shown["tiles"]:
        down, across = 2 + 2 * (2 * r + q - top), 7 * (q - left)
        middle = lines[down + 2][across : across + 9]
        assert middle[0] == "/"
        assert middle[8] == "\\"
        if display == "numbered" and number:
            assert middle[1:8].strip() == str(number)


def test_an_unknown_display_is_refused():
    with pytest.raises(Refusal, match="halves has no display 'large'; known are numbered, plain"):
        draw_text(RULES, start(), "large")
    assert options()


PAGES = [
    (Path(__file__).parents[3] / f"domain/games/halves/help{language}.txt").read_text()
    for language in ("", ".de")
]


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_are_plain_text_of_at_most_78_columns(page):
    assert all(len(line) <= 78 and line == line.rstrip() for line in page.splitlines())
    assert PAGES[0].isascii()


@pytest.mark.parametrize("page", PAGES)
def test_the_boards_on_the_pages_are_the_drawn_ones(page):
    at = position(WANING, 0)
    assert draw_text(RULES, at, "numbered") in page
    assert draw_text(RULES, play(at, "2"), "numbered") in page
    assert draw_text(RULES, start("-manual_start"), "numbered") in page
    two, three = picture("start-two").split("\n"), picture("start-three").split("\n")
    both = (f"{one:21}{other}".rstrip() for one, other in zip_longest(two, three, fillvalue=""))
    assert "\n".join(both) in page


def test_the_moves_of_the_example_are_all_there_are():
    at = position(WANING, 0)
    assert legal(at) == ["1", "2", "4"]
    after = play(at, "2")
    assert legal(after) == ["3", "5"]
    for reply in ("3", "5"):
        assert RULES.outcome(play(after, reply, "1")).winners == (0,)


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


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_warn_of_what_the_challenge_warns_of(page):
    first = next(
        n for n in range(7) if RULES.option_warning(RULES.read_options([f"free_edges={n}"]))
    )
    section = page[page.index("  -keep_most_friendly  ") :]
    assert f"-free_edges={first} " in section
