"""What the help pages of halves show and say, in both languages, is what the rules do."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.halves.position import HalvesOptions, KeepRule, TouchRule
from domain.rules import latest_rules
from tests.games.halves.given import WANING, legal, play, position, start
from tests.games.halves.test_halves_text import picture

PAGES = [
    (Path(__file__).parents[3] / f"domain/games/halves/help{language}.txt").read_text()
    for language in ("", ".de")
]
RULES = latest_rules("halves")


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
