"""The moves and positions of Amazons as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.game.schemas import MoveNotation, Schema, notation, number, object_of, one_of
from domain.games.amazons.drawing import kinds_of
from domain.games.amazons.rules import LARGEST, NAMES, SMALLEST

_SQUARE: Final = one_of(NAMES.values())

NOTATION: Final[MoveNotation] = notation(
    f"({_SQUARE})-({_SQUARE})/({_SQUARE})",
    ("from", "the amazon that moves"),
    ("to", "where it goes"),
    ("arrow", "where its arrow lands"),
)

POSITION: Final[Schema] = object_of(
    {
        "size": number(LARGEST, "the squares along each side", least=SMALLEST),
        "board": board_schema([*NAMES.values()], kinds_of(LARGEST)),
    }
)
