"""Both drawings of the Power of Two board, against the figures of the source.

What the help page of the Power of Two shows and says is what the rules do.
"""

from pathlib import Path

import pytest

from domain.drawing import draw_text
from domain.rules import latest_rules

GOLDEN = Path(__file__).parent
RULES = latest_rules("pow2")

# where the marks stand, by column letter and row number, with the exceptions


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
