"""Positions as text, for terminals and mail: one drawer a game."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from domain.drawing.kadon import draw_pow2
from domain.errors import Code, Refusal
from domain.rules.api import AnyRules

__all__ = ["draw_text"]

_DRAWERS: Final[Mapping[str, Callable[[Mapping[str, Any], str], str]]] = {
    "pow2": draw_pow2,
}
"""From a position's JSON form and a display; the key is the game's."""


def draw_text(rules: AnyRules, position: msgspec.Struct, display: str) -> str:
    """Draw a position, with the ending below if there is one; no trailing blanks or line end."""
    if display not in rules.displays:
        known = ", ".join(rules.displays)
        raise Refusal(
            Code.BAD_OPTION, f"{rules.key} has no display {display[:24]!r}; known are {known}"
        )
    drawing = _DRAWERS[rules.key](rules.to_json(position), display)
    outcome = rules.outcome(position)
    return f"{drawing}\n\n{outcome.detail}" if outcome else drawing
