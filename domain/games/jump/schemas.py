"""The moves and positions of Get a Jump On as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.boards.pow2_board import INTERSECTION, NAMES
from domain.game.puzzle import DONE
from domain.game.schemas import MoveNotation, Schema, notation, number, object_of, yes_or_no
from domain.games.jump.drawing import KINDS
from domain.games.jump.rules import STONES

NOTATION: Final[MoveNotation] = notation(
    f"(?:({INTERSECTION}):)?({INTERSECTION}(?:-{INTERSECTION})*)|({DONE})",
    ("new", "the new stone that the jumper jumps over"),
    ("way", "each place of the stone that jumps, with hyphens between them"),
    ("word", "the puzzle is submitted"),
)

POSITION: Final[Schema] = object_of(
    {
        "board": board_schema(NAMES, KINDS),
        "plies": number(STONES, "the jumps of part two so far"),
        "done": yes_or_no("whether the puzzle is submitted"),
    }
)
