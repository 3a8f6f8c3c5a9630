"""The options of Hex in words."""

from functools import partial
from typing import Final

from domain.game.options import OptionField, option
from domain.games.hex.rules import HexOptions

_option = partial(option, HexOptions)

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    _option("size", "Rows and columns", hint="11 as on the first boards; 13 and 14 are played, too."),
    _option("noswap", "No swap: White can't take over Black's first move"),
)  # fmt: skip
