"""The moves and positions of Cooperative That's My Line as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.boards.pow2_board import INTERSECTION, NAMES
from domain.game.puzzle import DONE
from domain.game.schemas import MoveNotation, Schema, notation, object_of, yes_or_no
from domain.games.duo.drawing import KINDS
from domain.games.duo.rules import COLOURS

NOTATION: Final[MoveNotation] = notation(
    f"({INTERSECTION})|({DONE})",
    ("at", "where the next colour goes"),
    ("word", "the puzzle is submitted"),
)

POSITION: Final[Schema] = object_of(
    {
        "board": board_schema(NAMES, KINDS),
        "colour": {"enum": [*COLOURS], "description": "the next colour; null if none can go on"},
        "done": yes_or_no("whether the puzzle is submitted"),
    }
)
