"""Turning points of a match: moves that cost their players much, although there were better ones."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import msgspec
from msgspec.structs import replace

from domain.game.engine import Values
from domain.game.protocol import Seat

CLEARLY_BETTER: Final = 0.08
"""How much a move has to cost its player, in shares of the win, before another is called better."""

TURNING_POINT: Final = 0.15
"""How much a move costs its player at a turning point, in shares of the win."""


class AnalysedPosition(msgspec.Struct, frozen=True, array_like=True):
    """A position of a match, as the engine sees it."""

    values: Values
    """For each seat its expected share of the win, from 0 to 1.

    In a puzzle how good the best score within reach is, 1 for the bound.
    """
    seat: Seat | None
    """The seat to move; None if the match is over by the rules."""
    move: str
    """The move that was played here; empty in the last position."""
    better: tuple[str, ...]
    """A line that begins with a clearly better move; empty if there is none."""
    score: str
    """A puzzle's score so far, in words; empty in other games."""
    reached: float = 0.0
    """How good a puzzle's score so far is, 1 for the bound; 0 in other games."""

    def loss(self, after: "AnalysedPosition") -> float:
        """Return how much the move played here has cost its player, if `after` is the next position."""
        return 0.0 if self.seat is None else self.values[self.seat] - after.values[self.seat]


class TurningPoint(msgspec.Struct, frozen=True):
    """A move that has cost its player much, although there was a better one."""

    number: int
    """The number of the move, from 1."""
    seat: Seat
    move: str
    before: float
    """The value of the position before the move, for its player."""
    after: float
    """The value after it."""
    better: tuple[str, ...]
    """A better line, from the position before the move."""


def with_position(
    before: Sequence[AnalysedPosition], position: AnalysedPosition
) -> tuple[AnalysedPosition, ...]:
    """Return the positions with another one at the end.

    Only now it is known what the move before has cost, so only now its line is kept or dropped.
    """
    if not before:
        return (position,)
    last = before[-1]
    cost = last.loss(position) >= CLEARLY_BETTER
    if not (cost and last.better and last.better[0] != last.move):
        last = replace(last, better=())
    return (*before[:-1], last, position)


def turning_points(positions: Sequence[AnalysedPosition]) -> list[TurningPoint]:
    """Return the moves that cost their players `TURNING_POINT` or more, the first one first."""
    return [
        TurningPoint(
            number,
            position.seat,
            position.move,
            position.values[position.seat],
            after.values[position.seat],
            position.better,
        )
        for number, (position, after) in enumerate(pairwise(positions), 1)
        if position.seat is not None and position.better and position.loss(after) >= TURNING_POINT
    ]
