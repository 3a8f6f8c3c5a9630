"""The options of the Power of Two in words."""

from functools import partial
from typing import Final

from domain.game.options import OptionField, option
from domain.games.pow2.rules import Pow2Options

_option = partial(option, Pow2Options)

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    _option(
        "start", "The start",
        ("", "Two pieces each, in the corners"),
        ("-fast", "Fast: four pieces each"),
        ("-middle", "Middle: two pieces each, at the middles of the sides"),
        ("-free", "Free: an empty board, on which you place four pieces each"),
    ),
    _option(
        "exact", "Exact: a move is illegal if you lack pieces for all neighbours",
    ),
    _option(
        "noborder", "No border: no moves along the four outer edges",
    ),
)  # fmt: skip
