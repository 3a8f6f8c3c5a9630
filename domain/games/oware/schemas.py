"""The moves and positions of Oware as programs see them."""

from typing import Final

from domain.game.schemas import (
    MoveNotation,
    Schema,
    by_place,
    notation,
    number,
    object_of,
    one_each,
    one_of,
)
from domain.games.oware.rules import BOARD, HALF

ALL_SEEDS: Final = 2 * HALF

NOTATION: Final[MoveNotation] = notation(
    f"({one_of(BOARD.names)})", ("from", "the house whose seeds are sown")
)

POSITION: Final[Schema] = object_of(
    {
        "board": by_place(BOARD.names, number(ALL_SEEDS), "the seeds by house"),
        "captured": one_each(2, number(ALL_SEEDS), "captured seeds, by seat"),
    }
)
