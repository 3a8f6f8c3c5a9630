"""Positions as text, for terminals and mail, and as SVG: one drawer and one painter a game."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from domain.boards.pow2_text import draw_goliath, draw_line, draw_pow2
from domain.drawing.halves import draw_halves
from domain.drawing.powerdrain import draw_powerdrain
from domain.drawing.puzzles import draw_duo, draw_jump, draw_one, draw_two
from domain.drawing.svg.document import draw_svg
from domain.drawing.svg.style import STYLE
from domain.drawing.torere import draw_torere
from domain.errors import Code, Refusal
from domain.rules.protocol import AnyRules

__all__ = ["STYLE", "draw_svg", "draw_text"]

_DRAWERS: Final[Mapping[str, Callable[[Mapping[str, Any], str], str]]] = {
    "goliath": draw_goliath,
    "halves": draw_halves,
    "line": draw_line,
    "pow2": draw_pow2,
    "jump": draw_jump,
    "one": draw_one,
    "two": draw_two,
    "duo": draw_duo,
    "torere": draw_torere,
}
"""From a position's JSON form and a display; the key is the game's."""

_NAMING: Final[Mapping[str, Callable[[Mapping[str, Any], str, Sequence[str]], str]]] = {
    "powerdrain": draw_powerdrain,
}
"""The same for drawings that show the players' names."""


def draw_text(
    rules: AnyRules, position: msgspec.Struct, display: str, names: Sequence[str] = ()
) -> str:
    """Draw a position, with the ending below if there is one; no trailing blanks or line end.

    `names` are the players' by seat, for drawings that show them.
    """
    if display not in rules.displays:
        known = ", ".join(rules.displays)
        raise Refusal(
            Code.BAD_OPTION, f"{rules.key} has no display {display[:24]!r}; known are {known}"
        )
    shown = rules.to_json(position)
    if rules.key in _NAMING:
        drawing = _NAMING[rules.key](shown, display, names)
    else:
        drawing = _DRAWERS[rules.key](shown, display)
    outcome = rules.outcome(position)
    return f"{drawing}\n\n{outcome.detail}" if outcome else drawing
