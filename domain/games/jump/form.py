"""The options of Get a Jump On in words."""

from typing import Final

from domain.games.jump.game import JumpOptions
from domain.rules.option_form import OptionField, Text, list_of_names

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    list_of_names(
        JumpOptions,
        "solitaire",
        Text(
            "Begin with part two and these stones",
            "Mit dem zweiten Teil und diesen Steinen beginnen",
        ),
        Text(
            "The names of 2 to 32 intersections, such as a1,b4; empty to set the stones yourself.",
            "Die Namen von 2 bis 32 Kreuzungen, etwa a1,b4; leer, um die Steine selbst zu setzen.",
        ),
    ),
)
