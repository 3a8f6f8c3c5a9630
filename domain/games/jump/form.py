"""The options of Get a Jump On in words."""

from typing import Final

from domain.game.options import OptionField, option
from domain.games.jump.rules import JumpOptions

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    option(
        JumpOptions, "solitaire", "Begin with part two and these stones",
        hint="2 to 32 intersections, such as a1,b4; empty to set the stones yourself.",
    ),
)  # fmt: skip
