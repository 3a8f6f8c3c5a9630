"""The options of Amazons in words."""

from functools import partial
from typing import Final

from domain.game.options import OptionField, option
from domain.games.amazons.rules import AmazonsOptions

_option = partial(option, AmazonsOptions)

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    _option("size", "Rows and columns", hint="10 as in tournaments; 8 and 6 make shorter matches."),
)  # fmt: skip
