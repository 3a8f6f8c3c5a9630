"""What the help pages of powerdrain show and say, in both languages, is what the rules do."""

import re
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.games.powerdrain.rules import EdgeOrder
from domain.rules import latest_rules
from tests.games.powerdrain.given import GOLDEN, options, play, printed, start

PAGES = [
    (Path(__file__).parents[3] / f"domain/games/powerdrain/help{language}.txt").read_text()
    for language in ("", ".de")
]
RULES = latest_rules("powerdrain")


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_are_plain_text_of_at_most_78_columns(page):
    assert all(len(line) <= 78 and line == line.rstrip() for line in page.splitlines())
    assert PAGES[0].isascii()


@pytest.mark.parametrize("page", PAGES)
def test_the_boards_on_the_pages_are_the_drawn_ones(page):
    assert (GOLDEN / "figure.txt").read_text() in page
    assert draw_text(RULES, play(start("-o2", "-p"), "24-75", "82-95"), "grid") in page
    assert RULES.outcome(printed()).detail == "4 active plugs to 2"


@pytest.mark.parametrize("page", PAGES)
def test_the_moves_on_the_pages_are_notation_and_those_of_the_table_are_canonical(page):
    moves = re.findall(r"\b\d\d-\d\d\b", page)
    assert {RULES.write(RULES.read(text)) for text in moves} == {"24-57", "24-75", "82-95"}
    assert {RULES.write(RULES.read(text)) for text in ("2457", "57-24", "5724")} == {"24-57"}
    assert re.findall(r"^  (\d\d-\d\d)  ", page, re.MULTILINE) == ["24-57"]


@pytest.mark.parametrize("page", PAGES)
def test_every_option_is_explained(page):
    for flag in (*(order for order in EdgeOrder if order), "p"):
        assert re.search(rf"^  -{flag}  ", page, re.MULTILINE)
        assert RULES.write_options(options(flag)) == (f"-{flag}",)
