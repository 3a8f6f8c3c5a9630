"""The moves and positions of Breakthrough as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.game.schemas import MoveNotation, Schema, notation, number, object_of, one_of
from domain.games.breakthrough.drawing import kinds_of
from domain.games.breakthrough.rules import FEWEST, GRID, MOST

NOTATION: Final[MoveNotation] = notation(
    f"({one_of(GRID.names)})-({one_of(GRID.names)})",
    ("from", "the piece that moves"),
    ("to", "where it goes, or the piece that it takes"),
)

POSITION: Final[Schema] = object_of(
    {
        "size": number(MOST, "the squares along each side", least=FEWEST),
        "board": board_schema(GRID.names, kinds_of(MOST)),
    }
)
