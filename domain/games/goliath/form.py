"""The options of David and Goliath in words."""

from typing import Final

from domain.game.options import OptionField, option
from domain.games.goliath.rules import GoliathOptions

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    option(GoliathOptions, "goliath_first", "Goliath moves first"),
    option(
        GoliathOptions, "count",
        "Count: the larger region wins as soon as the figures are separated",
    ),
)  # fmt: skip
