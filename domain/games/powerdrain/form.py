"""The options of Powerdrain in words."""

from typing import Final

from domain.game.options import OptionField, option
from domain.games.powerdrain.rules import PowerdrainOptions

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    option(
        PowerdrainOptions, "order", "The edges",
        ("", "In random order"),
        ("-o1", "1 3 5 7 9"),
        ("-o2", "7 9 1 3 5"),
    ),
    option(
        PowerdrainOptions, "p", "A common pool of plugs instead of hands",
    ),
)  # fmt: skip
