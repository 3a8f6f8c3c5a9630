"""The moves and positions of Reversi as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.game.schemas import MoveNotation, Schema, notation, object_of, one_of
from domain.games.reversi.drawing import DRAWING
from domain.games.reversi.rules import GRID

NOTATION: Final[MoveNotation] = notation(
    f"({one_of(GRID.names)})", ("at", "where a disc is placed")
)

POSITION: Final[Schema] = object_of({"board": board_schema(GRID.names, DRAWING.kinds)})
