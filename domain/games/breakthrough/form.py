"""The options of Breakthrough in words."""

from functools import partial
from typing import Final

from domain.game.options import OptionField, option
from domain.games.breakthrough.rules import BreakthroughOptions

_option = partial(option, BreakthroughOptions)

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    _option("size", "Rows and columns", hint="8 as on a chessboard; fewer make a shorter match."),
)  # fmt: skip
