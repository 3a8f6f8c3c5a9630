"""The drawings of goliath and line, against boards on record; the templates are pow2's.

What the help pages of the Power of Two's family show and say is what the rules do.
"""

import re
from pathlib import Path

import pytest

from domain.drawing import draw_text
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


PAGES = Path(__file__).parents[2] / "domain/games"
EXAMPLES = {
    "pow2": ("m13-m5:l4", "a13-c11"),
    "goliath": ("m13-h8:i9", "a1-c3:f6"),
    "line": ("a1", "h8"),
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
def test_the_boards_on_a_page_are_the_drawn_ones(key, language):
    assert draw_text(latest_rules(key), played_on_page(key), "large") in page(key, language)
    assert draw_text(latest_rules(key), played_on_page(key, *EXAMPLES[key]), "small") in page(
        key, language
    )


def moves_on(key, language):
    found = re.findall(r"\b[a-m]\d+-[a-m]\d+(?::[a-m]\d+(?:[,>][a-m]\d+)*)?", page(key, language))
    return [text for text in found if not text.startswith("a1-d3")]  # quoted as the error it is


@pytest.mark.parametrize(("key", "language"), ALL_PAGES)
def test_every_move_on_a_page_is_canonical_notation(key, language):
    rules = latest_rules(key)
    texts = moves_on(key, language)
    assert texts or key == "line"
    assert all(rules.write(rules.read(text)) == text for text in texts)
