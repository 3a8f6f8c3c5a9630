"""The drawings of goliath and line, against boards on record; the templates are pow2's.

What the help pages of the Power of Two's family show and say is what the rules do.
"""

import re
from pathlib import Path

import pytest

from domain.boards.pow2_board import NAMES
from domain.drawing import draw_text
from domain.errors import Code, Refusal
from domain.rules import latest_rules

GAMES = Path(__file__).parent
COUNTED = "m13-a13:b10 a1-b4:f11 a13-e11:a13 b4-c6:e9 e11-d10:g13 c6-g4:i3 d10-c11:d10"
"""A match that ends by -count."""
NINETEEN = (
    "b4 m13 k5 d10 g4 d12 f3 i1 e7 h8 f6 i7 c3 i11 e3 j10 d4 c11 e5 j12 a5 k3 c5 k8 c6 k11 d7 k9 d2"
    " g10 k6 h6 i13 m9 l10"
)
"""A match as the source pictures its end: 19 to 16, Dark has won."""


def played(key, flags, moves):
    rules = latest_rules(key)
    at = rules.start(rules.read_options(flags), 2, None)
    for text in moves.split():
        at = rules.play(at, rules.check(at, rules.read(text)))
    return at


BOARDS = [
    ("goliath-start", "goliath", [], "", "large"),
    ("goliath-example", "goliath", [], "m13-h8:i9 a1-c3:f6", "small"),
    ("goliath-counted", "goliath", ["-count"], COUNTED, "large"),
    ("line-start", "line", [], "", "small"),
    ("line-19-16", "line", [], NINETEEN, "large"),
]


@pytest.mark.parametrize(("name", "key", "flags", "moves", "display"), BOARDS)
def test_positions_are_drawn_as_on_record(name, key, flags, moves, display):
    golden = (GAMES / f"{name.replace('-', '/', 1)}.txt").read_text().removesuffix("\n")
    assert draw_text(latest_rules(key), played(key, flags, moves), display) == golden


@pytest.mark.parametrize(
    ("key", "counts"),
    [("goliath", "Stones left: David 15 Goliath 15"), ("line", "Stones placed: Light 0 Dark 0")],
)
@pytest.mark.parametrize(("display", "lines"), [("large", 27), ("small", 15)])
def test_a_drawing_is_a_line_of_counts_a_blank_line_and_the_board(key, counts, display, lines):
    drawn = draw_text(latest_rules(key), played(key, [], ""), display).split("\n")
    assert drawn[:2] == [counts, ""]
    assert len(drawn) == 2 + lines
    assert all(line == line.rstrip() for line in drawn)


@pytest.mark.parametrize("key", ["goliath", "line"])
def test_the_large_drawing_comes_first_and_others_are_refused(key):
    assert latest_rules(key).displays == ("large", "small")
    with pytest.raises(Refusal) as refusal:
        draw_text(latest_rules(key), played(key, [], ""), "svg")
    assert refusal.value.code is Code.BAD_OPTION
    assert refusal.value.sentence == f"{key} has no display 'svg'; known are large, small"


def test_pieces_are_lettered_as_in_the_position():
    for key, flags, moves in (("goliath", [], "m13-h8:i9 a1-c3:f6"), ("line", [], NINETEEN)):
        at = played(key, flags, moves)
        board = latest_rules(key).to_json(at)["board"]
        rows = draw_text(latest_rules(key), at, "small").split("\n")[2:]
        for name in NAMES:
            shown = rows[int(name[1:])][3 + 2 * "abcdefghijklm".index(name[0])]
            assert shown == board.get(name, "*")


def test_a_match_that_ends_nineteen_to_sixteen_needs_more_stones_than_sixteen():
    at = played("line", [], NINETEEN)
    assert latest_rules("line").to_json(at)["stones"] == [16, 19]
    outcome = latest_rules("line").outcome(at)
    assert (outcome.winners, outcome.detail) == ((1,), "Dark placed 19 stones to 16")
    assert draw_text(latest_rules("line"), at, "small").split("\n")[-2:] == ["", outcome.detail]


def test_sixteen_stones_each_end_the_same_match_with_a_tie_that_dark_wins():
    at = played("line", ["-stones=16"], NINETEEN.partition(" i13")[0])
    assert latest_rules("line").outcome(at).detail == "16 stones each, and Dark placed last"


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


def played_on_page(key, *texts):
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
    assert draw_text(latest_rules(key), played_on_page(key), "large") in page(key, language)
    assert draw_text(latest_rules(key), played_on_page(key, *EXAMPLES[key]), "small") in page(
        key, language
    )


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
    texts = list(rules.legal_moves(played_on_page("goliath", *EXAMPLES["goliath"])))
    assert {text.partition(":")[0] for text in texts} == {"h8-g9", "h8-i7"}
    thrown = {text.partition(":")[2] for text in texts if text.startswith("h8-i7")}
    assert thrown == {"h8", "g9", "j7", "m7", "h6", "g5", "i5", "i3"}
    assert re.search(r"h8, g9, j7, m7, h6, g5, i5 (or|oder)\s+i3", page("goliath", language))
    then = rules.legal_moves(played_on_page("goliath", *EXAMPLES["goliath"], "h8-i7:h8"))
    places = {text.partition(":")[0].partition("-")[2] for text in then}
    assert places == {"a1", "b4", "d2", "d4", "a5", "e1", "e5"}


def test_what_lines_page_says_of_the_example_is_so():
    texts = list(latest_rules("line").legal_moves(played_on_page("line", *EXAMPLES["line"])))
    barred = [name for name in NAMES if name not in texts]
    assert set(barred) == {"a1", "h8", "i9", "j10", "k11", "m13", "g9", "i7"}
