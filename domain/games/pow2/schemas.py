"""The moves and positions of The Power of Two as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.boards.pow2_board import INTERSECTION, NAMES
from domain.game.schemas import MoveNotation, Schema, notation, number, object_of, one_each
from domain.games.pow2.drawing import KINDS
from domain.games.pow2.rules import PIECES

NOTATION: Final[MoveNotation] = notation(
    f"({INTERSECTION})(?:-({INTERSECTION})(?::({INTERSECTION}(?:,{INTERSECTION})*))?)?",
    ("from", "the piece that moves, or where one is placed at the start of a free match"),
    ("to", "where it goes"),
    ("placed", "where new pieces go, with commas between them"),
)

POSITION: Final[Schema] = object_of(
    {
        "board": board_schema(NAMES, KINDS),
        "supply": one_each(2, number(PIECES), "pieces left to place, by seat"),
    }
)
