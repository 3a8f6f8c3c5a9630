"""Scheduled matches, their results, and the points of all players.

Points may be any numbers. Inside they are whole multiples of a unit, so that sums and halves of them are exact.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum, StrEnum
from fractions import Fraction
from math import lcm
from typing import ClassVar, Final, NamedTuple

import msgspec

MOST_PLAYERS: Final = 10_000
"""Players of a table or of a bracket."""


class PairResult(StrEnum):
    """The results of a match of two, the first player's side first."""

    FIRST_WON = "1-0"
    SECOND_WON = "0-1"
    DRAWN = "1/2"
    FIRST_BY_FORFEIT = "+-"
    SECOND_BY_FORFEIT = "-+"
    BOTH_FORFEITED = "--"

    @property
    def played(self) -> bool:
        """Whether it was played, and not decided by forfeit."""
        return self in _PLAYED

    @property
    def by_player(self) -> "tuple[Half, Half]":
        """Each player's half, the first player's first."""
        return _HALVES[self]


_PLAYED: Final = frozenset({PairResult.FIRST_WON, PairResult.SECOND_WON, PairResult.DRAWN})


class Half(IntEnum):
    """One player's half of a result, counted in halves of a win."""

    LOST = 0
    DRAWN = 1
    WON = 2


_HALVES: Final = {
    PairResult.FIRST_WON: (Half.WON, Half.LOST),
    PairResult.SECOND_WON: (Half.LOST, Half.WON),
    PairResult.DRAWN: (Half.DRAWN, Half.DRAWN),
    PairResult.FIRST_BY_FORFEIT: (Half.WON, Half.LOST),
    PairResult.SECOND_BY_FORFEIT: (Half.LOST, Half.WON),
    PairResult.BOTH_FORFEITED: (Half.LOST, Half.LOST),
}


class ScheduledMatch(NamedTuple):
    """A match that is scheduled; its result is None until it is over."""

    first: int
    """The player with the first move."""
    second: int
    result: PairResult | None
    number: int = 0
    """The number of its pairing in a tournament; 0 where nobody asks."""


class PointScheme(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Points for a match of two, as a tournament names them; forfeits give the same points."""

    win: int | float
    draw: int | float
    loss: int | float


USUAL_POINTS: Final = PointScheme(win=1, draw=0.5, loss=0)


def exact(number: float) -> Fraction:
    """Return the number that was written: 1/10 for 0.1."""
    return Fraction(repr(number))


def plain_number(number: Fraction) -> int | float:
    """Return a number for JSON: 2 and not 2.0, and otherwise the nearest float, such as 0.5."""
    return number.numerator if number.denominator == 1 else float(number)


class Encounter(NamedTuple):
    """A match that counts, as one of its players sees it."""

    other: int
    half: Half
    made: int
    """Points, in units."""
    side: int
    """0 for the first player, 1 for the second."""
    played: bool


class TieBreakFacts(msgspec.Struct, frozen=True):
    """Facts that some tie-breaks need beside results."""

    worse_side: int | None = None
    """The side with the smaller chances: 0 for the first player's, 1 for the second's."""
    ratings: Sequence[int] = ()
    """Each player's rating at the start."""
    lots: Sequence[int] = ()
    """Each player's lot, as it was drawn and recorded; the lowest is the best."""


class Tally:
    """The matches that count, by player, and the points made in them. One without a result counts for nobody."""

    parts: ClassVar[int] = 2
    """Into how many equal parts the units of any points can be split."""

    def __init__(
        self,
        players: int,
        points: PointScheme,
        matches: Iterable[ScheduledMatch],
        facts: TieBreakFacts | None = None,
        byes: Iterable[int] = (),
    ) -> None:
        """Count matches, and for each of the `byes` a win's points, which are part of no tie-break of its player."""
        worth = exact(points.loss), exact(points.draw), exact(points.win)
        self.unit: Final = self.parts * lcm(*(one.denominator for one in worth))
        """How many units one point has; an even number, so that half of any points is whole."""
        self.worth: Final = tuple(int(one * self.unit) for one in worth)
        """Units for a loss, a draw and a win, by `Half`."""
        self.facts: Final = facts or TieBreakFacts()
        self.encounters: Final[list[list[Encounter]]] = [[] for _ in range(players)]
        self.open: Final = [0] * players
        """How many matches of each player have no result."""
        for match in matches:
            self._add(match)
        self.points: Final = [sum(one.made for one in met) for met in self.encounters]
        """The points of each player, in units."""
        for player in byes:
            self.points[player] += self.worth[Half.WON]

    def in_points(self, player: int) -> Fraction:
        """Return the points of a player."""
        return Fraction(self.points[player], self.unit)

    def _add(self, match: ScheduledMatch) -> None:
        pair = match.first, match.second
        if match.result is None:
            for player in pair:
                self.open[player] += 1
            return
        for side, half in enumerate(_HALVES[match.result]):
            met = Encounter(pair[1 - side], half, self.worth[half], side, match.result.played)
            self.encounters[pair[side]].append(met)
