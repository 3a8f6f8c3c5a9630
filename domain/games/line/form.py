"""The options of That's My Line in words."""

from typing import Final

from domain.game.options import OptionField, option
from domain.games.line.rules import LineOptions

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    option(
        LineOptions, "stones", "Stones each",
        hint="0 for as many as find room; the printed rules say 16.",
    ),
)  # fmt: skip
