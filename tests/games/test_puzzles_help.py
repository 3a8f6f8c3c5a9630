"""What the help pages of the puzzles show and say, in both languages, is what the rules do."""

import json
import re
from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.rules import latest_rules
from tests.games.puzzles import play, start

ROOT = Path(__file__).parents[2]
KEYS = ("duo", "jump", "one", "two")
EXAMPLES = {
    "duo": [((), "a13 b4 f8 c3 i5 d4 j10 f6 m1")],
    "jump": [((), "a1 e1:g1 e3:d4-g1"), (("-solitaire=a1,a5,a9,m1",), "a1-a7-a13")],
    "one": [((), "a9 d4 d7 d10 a13")],
    "two": [((), "a1 a13 g1")],
}
each_page = pytest.mark.parametrize(
    ("key", "page"),
    [
        pytest.param(
            key,
            (ROOT / f"domain/games/{key}/help{language}.txt").read_text(),
            id=f"{key}{language}",
        )
        for key in KEYS
        for language in ("", ".de")
    ],
)


@each_page
def test_the_pages_are_plain_text_of_at_most_78_columns(key, page):
    assert all(len(line) <= 78 and line == line.rstrip() for line in page.splitlines())
    assert page.isascii() == ("WRITING A MOVE" in page)
    assert f"\n  {key} challenge userid" in page


@each_page
def test_the_boards_on_the_pages_are_the_drawn_ones(key, page):
    for flags, texts in EXAMPLES[key]:
        at = play(key, start(key, *flags), *texts.split())
        assert draw_text(latest_rules(key), at, "small") in page
        said = re.split(r", | und | and |: ", " ".join(page.split()))
        assert all(any(text in part for part in said) for text in texts.split())


@each_page
def test_every_move_on_the_pages_is_canonical_notation(key, page):
    moves = re.findall(r"^  (-?[a-m]\d\S*|done)  ", page, re.MULTILINE)
    assert moves[-1] == "done"
    for text in moves:
        assert latest_rules(key).write(latest_rules(key).read(text)) == text


@each_page
def test_the_only_option_is_explained(key, page):
    assert ("\n  -solitaire=a1,b4,...  " in page) == (key == "jump")
    assert latest_rules(key).read_options(["-solitaire=a1,b4"] if key == "jump" else [])


@each_page
def test_what_is_proven_or_the_sources_mark_is_told(key, page):
    bound = latest_rules(key).score(start(key)).bound
    assert set(re.findall(r"\d+", bound)) <= set(re.findall(r"\d+", page))


def test_the_chain_that_is_stored_otherwise_is_so():
    at = play("jump", start("jump"), "a1", "a5:a7", "c5:d4")
    rules = latest_rules("jump")
    assert rules.write(rules.check(at, rules.read("c3:a1-d4-a7"))) == "c3:a1-a7"


def test_three_lines_of_the_example_carry_two_stones_and_the_best_of_one_is_the_fourth():
    two = play("two", start("two"), "a1", "a13", "g1")
    assert latest_rules("two").score(two).rank == (-3, 3)
    one = play("one", start("one"), *EXAMPLES["one"][0][1].split())
    assert latest_rules("one").score(one).rank == (-14, 4)


def test_there_are_matches_of_jump_far_below_the_sources_mark():
    best = json.loads((ROOT / "tests/games/puzzles-best.json").read_text())
    plies = [len(one["moves"].split()) - 32 for one in best if one["rules"] == "jump/1"]
    assert min(plies) < 10
