"""The options of Go in words."""

from functools import partial
from typing import Final

from domain.game.options import OptionField, option
from domain.games.go.rules import GoOptions

_option = partial(option, GoOptions)

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    _option("size", "Points along each side", hint="9 and 13 are usual."),
    _option("komi", "Komi", hint="White's points for moving second; half a point is added."),
)  # fmt: skip
