"""The options of Halves in words."""

from functools import partial
from typing import Final

from domain.game.options import OptionField, option
from domain.games.halves.position import HalvesOptions

_option = partial(option, HalvesOptions)

OPTIONS_FORM: Final[tuple[OptionField, ...]] = (
    _option(
        "tiles_each", "Tiles each",
        hint="More tiles make a longer match.",
    ),
    _option(
        "keep", "What survives when the tiles fall apart",
        ("", "The largest group"),
        ("-keep_most_friendly", "The group with most tiles of the mover's colour"),
        ("-keep_chosen", "A group that the mover chooses"),
    ),
    _option(
        "touch", "A placed tile must touch",
        ("", "A tile of another colour"),
        ("-touch_any", "Any tile"),
    ),
    _option(
        "must_touch", "How many tiles it must touch",
        ("", "One"), ("-must_touch=2", "Two"),
    ),
    _option(
        "free_edges", "Free edges that a tile needs to be removed",
        hint="With 0, any tile of your own can be removed.",
    ),
    _option("manual_start", "The players place the tiles themselves"),
    _option("no_contract", "No contract: the first player can't swap colours"),
    _option("invert_win", "Inverted: the last player with tiles wins"),
)  # fmt: skip
