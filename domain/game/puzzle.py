"""The common parts of puzzles: one player, the move `done`, and the score as the ending."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from domain.game.protocol import SAY, GameOutcome, M, O, P, PuzzleScore, Rules
from domain.sentences import Text

DONE: Final = "done"
"""The move that ends a match, in every puzzle."""
SOLVER_IS_DONE: Final = SAY("solved")


class Ending(StrEnum):
    """Why a puzzle is over; its result is the score."""

    DONE = "done"
    """The solver ended it."""
    NO_MOVE = "no-move"
    """Nothing can be set or jumped any more."""


class Puzzle(Rules[P, M, O]):
    """The defaults of a puzzle."""

    players: tuple[int, ...] = (1,)
    sides: tuple[Text, ...] = (SAY("solver"),)
    displays: tuple[str, ...] = ("large", "small")
    most_points: int
    """The proven limit of points."""

    def points(self, rank: Sequence[int]) -> int:
        """Return the points of a score, by its rank: more are better, and ties have the same."""
        return -rank[0]


def solver_outcome(reason: Ending, score: PuzzleScore) -> GameOutcome:
    """Return the outcome of a puzzle that is over: the solver wins, with the score's sentence."""
    return GameOutcome((0,), reason, score.text)
