"""The options of the Power of Two in words."""

from functools import partial
from typing import Final

from domain.game.option_form import OptionField, option
from domain.games.pow2.rules import Pow2Options

_option = partial(option, Pow2Options)

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    _option(
        "start", "The start", "Der Beginn",
        ("", "Two pieces each, in the corners", "Je zwei Steine in den Ecken"),
        ("-fast", "Fast: four pieces each", "Schnell: je vier Steine"),
        ("-middle", "Middle: two pieces each, at the middles of the sides",
         "Mitte: je zwei Steine in den Mitten der Seiten"),
        ("-free", "Free: an empty board, on which you place four pieces each",
         "Frei: ein leeres Brett, auf das jeder vier Steine setzt"),
    ),
    _option(
        "exact", "Exact: a move is illegal if you lack pieces for all neighbours",
        "Genau: Ein Zug ist verboten, wenn die Steine nicht für alle Nachbarn reichen",
    ),
    _option(
        "noborder", "No border: nothing travels along the four outer edges",
        "Ohne Rand: Auf den vier Außenkanten wird nicht gezogen",
    ),
)  # fmt: skip
