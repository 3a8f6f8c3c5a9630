"""The moves and positions of Lines of Action as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.game.schemas import MoveNotation, Schema, notation, object_of, one_of
from domain.games.loa.drawing import DRAWING
from domain.games.loa.rules import GRID

NOTATION: Final[MoveNotation] = notation(
    f"({one_of(GRID.names)})-({one_of(GRID.names)})",
    ("from", "the piece that moves"),
    ("to", "where it goes, or the piece that it takes"),
)

POSITION: Final[Schema] = object_of({"board": board_schema(GRID.names, DRAWING.kinds)})
