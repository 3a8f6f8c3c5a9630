"""The moves and positions of Go as programs see them."""

from typing import Final

from domain.boards.pieces import board_schema
from domain.boards.points import NAMES, all_points
from domain.boards.sets import bits
from domain.game.schemas import (
    MoveNotation,
    Schema,
    notation,
    number,
    object_of,
    one_each,
    one_of,
)
from domain.games.go.drawing import kinds_of
from domain.games.go.rules import FEWEST, MOST, MOST_KOMI, WORDS, GoPhase

_POINTS: Final = [NAMES[point] for point in bits(all_points(MOST))]

NOTATION: Final[MoveNotation] = notation(
    f"({one_of(_POINTS)})|({one_of(WORDS)})",
    ("at", "where a stone is placed, or a stone that is dead with its chain"),
    ("word", "no stone is placed, or an answer while the points are counted"),
)

POSITION: Final[Schema] = object_of(
    {
        "size": number(MOST, "the points along each side", least=FEWEST),
        "komi": number(MOST_KOMI, "White's komi without its half point"),
        "phase": {"enum": [phase.name.lower() for phase in GoPhase]},
        "points": one_each(2, number(MOST * MOST), "the points without komi, by seat"),
        "board": board_schema(_POINTS, kinds_of(MOST)),
    }
)
