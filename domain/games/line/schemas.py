"""The moves and positions of That's My Line as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.boards.pow2_board import INTERSECTION, NAMES
from domain.game.schemas import MoveNotation, Schema, notation, number, object_of, one_each
from domain.games.line.drawing import KINDS

NOTATION: Final[MoveNotation] = notation(f"({INTERSECTION})", ("at", "where a stone is placed"))

POSITION: Final[Schema] = object_of(
    {
        "board": board_schema(NAMES, KINDS),
        "stones": one_each(2, number(len(NAMES)), "stones on the board, by seat"),
    }
)
