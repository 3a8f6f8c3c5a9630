"""The moves and positions of Hex as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.boards.rhombus import MOST, NAMES
from domain.game.schemas import MoveNotation, Schema, notation, number, object_of, one_of
from domain.games.hex.drawing import kinds_of
from domain.games.hex.rules import FEWEST

NOTATION: Final[MoveNotation] = notation(
    f"({one_of(NAMES.values())})|(swap)",
    ("at", "where a stone is placed"),
    ("word", "the opponent's first move is taken over"),
)

POSITION: Final[Schema] = object_of(
    {
        "size": number(MOST, "the rows and columns", least=FEWEST),
        "board": board_schema([*NAMES.values()], kinds_of(MOST)),
    }
)
