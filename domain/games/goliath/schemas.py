"""The moves and positions of David and Goliath as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.boards.pow2_board import INTERSECTION, NAMES
from domain.game.schemas import MoveNotation, Schema, notation, number, object_of, one_each
from domain.games.goliath.drawing import KINDS
from domain.games.goliath.rules import STONES

NOTATION: Final[MoveNotation] = notation(
    f"({INTERSECTION})-({INTERSECTION})(?::(?:({INTERSECTION})>)?({INTERSECTION}))?",
    ("from", "the figure that moves"),
    ("to", "where it goes"),
    ("stone", "the stone that is picked up, once none is left to throw"),
    ("thrown", "where the stone goes"),
)

POSITION: Final[Schema] = object_of(
    {
        "board": board_schema(NAMES, KINDS),
        "supply": one_each(2, number(STONES), "stones left to throw, by seat"),
    }
)
