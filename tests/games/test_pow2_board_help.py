"""What the help pages of the Power of Two's family show and say is what the rules do."""

import re
from pathlib import Path

import pytest

from domain.boards.pow2_board import NAMES
from domain.drawing import draw_text
from domain.rules import latest_rules

PAGES = Path(__file__).parents[2] / "domain/games"
EXAMPLES = {
    "pow2": ("m13-m5:l4", "a13-c11"),
    "goliath": ("m13-h8:i9", "a1-c3:f6"),
    "line": ("a1", "h8"),
}
OPTIONS = {
    "pow2": ("exact", "noborder", "fast", "middle", "free"),
    "goliath": ("goliath_first", "count"),
    "line": ("stones=N",),
}
ALL_PAGES = [(key, language) for key in EXAMPLES for language in ("", ".de")]


def page(key, language=""):
    return (PAGES / f"{key}/help{language}.txt").read_text(encoding="utf-8")


def played(key, *texts):
    rules = latest_rules(key)
    at = rules.start(rules.read_options([]), 2, None)
    for text in texts:
        at = rules.play(at, rules.check(at, rules.read(text)))
    return at


@pytest.mark.parametrize(("key", "language"), ALL_PAGES)
def test_a_page_is_plain_text_of_at_most_78_columns(key, language):
    text = page(key, language)
    assert text.isascii() or language
    assert all(char.isprintable() for char in text.replace("\n", ""))
    assert all(len(line) <= 78 and line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(("key", "language"), ALL_PAGES)
def test_the_boards_on_a_page_are_the_drawn_ones(key, language):
    assert draw_text(latest_rules(key), played(key), "large") in page(key, language)
    assert draw_text(latest_rules(key), played(key, *EXAMPLES[key]), "small") in page(key, language)


@pytest.mark.parametrize(("key", "language"), ALL_PAGES)
def test_every_option_is_explained(key, language):
    for flag in OPTIONS[key]:
        assert re.search(rf"^  -{flag}  ", page(key, language), re.MULTILINE)
        assert f"[-{flag}" in page(key, language) or f"| -{flag}" in page(key, language)
        latest_rules(key).read_options([flag.replace("=N", "=16")])


def moves_on(key, language):
    found = re.findall(r"\b[a-m]\d+-[a-m]\d+(?::[a-m]\d+(?:[,>][a-m]\d+)*)?", page(key, language))
    return [text for text in found if not text.startswith("a1-d3")]  # quoted as the error it is


@pytest.mark.parametrize(("key", "language"), ALL_PAGES)
def test_every_move_on_a_page_is_canonical_notation(key, language):
    rules = latest_rules(key)
    texts = moves_on(key, language)
    assert texts or key == "line"
    assert all(rules.write(rules.read(text)) == text for text in texts)


@pytest.mark.parametrize("key", EXAMPLES)
def test_the_german_page_has_the_moves_commands_and_boards_of_the_english_one(key):
    english, german = page(key), page(key, ".de")
    assert moves_on(key, "") == moves_on(key, ".de")
    commands = [line for line in english.splitlines() if line.startswith(f"  {key} ")]
    assert [line for line in german.splitlines() if line.startswith(f"  {key} ")] == commands
    assert english.count("\n\n") == german.count("\n\n")


@pytest.mark.parametrize("language", ["", ".de"])
def test_what_goliaths_page_says_of_the_example_is_so(language):
    rules = latest_rules("goliath")
    texts = list(rules.legal_moves(played("goliath", *EXAMPLES["goliath"])))
    assert {text.partition(":")[0] for text in texts} == {"h8-g9", "h8-i7"}
    thrown = {text.partition(":")[2] for text in texts if text.startswith("h8-i7")}
    assert thrown == {"h8", "g9", "j7", "m7", "h6", "g5", "i5", "i3"}
    assert re.search(r"h8, g9, j7, m7, h6, g5, i5 (or|oder)\s+i3", page("goliath", language))
    then = rules.legal_moves(played("goliath", *EXAMPLES["goliath"], "h8-i7:h8"))
    places = {text.partition(":")[0].partition("-")[2] for text in then}
    assert places == {"a1", "b4", "d2", "d4", "a5", "e1", "e5"}


def test_what_lines_page_says_of_the_example_is_so():
    texts = list(latest_rules("line").legal_moves(played("line", *EXAMPLES["line"])))
    barred = [name for name in NAMES if name not in texts]
    assert set(barred) == {"a1", "h8", "i9", "j10", "k11", "m13", "g9", "i7"}
