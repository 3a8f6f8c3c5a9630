"""The moves and positions of Four in a Row as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.game.schemas import MoveNotation, Schema, notation, object_of, one_of
from domain.games.connectfour.drawing import DRAWING
from domain.games.connectfour.rules import GRID

NOTATION: Final[MoveNotation] = notation(
    f"({one_of(GRID.names)}|[{GRID.letters}])",
    ("at", "where the disc comes to rest, or its column"),
)

POSITION: Final[Schema] = object_of({"board": board_schema(GRID.names, DRAWING.kinds)})
