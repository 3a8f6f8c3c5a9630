"""The ranking of a match's players, and their ratings.

A skill is a normal distribution, by the model of Plackett and Luce as Weng and Lin update it: a mean
and a deviation, which shrinks with each match. Both are stored as whole millionths, because one
history must always give the same numbers, even if two builds of a library differ in a float's last
bit.
"""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from domain.game.protocol import Seat

UNIT: Final = 1_000_000
"""One unit of skill, in the millionths that are stored."""

_START_RATING: Final = 1_500
_RATING_POINTS_FOR_ONE: Final = 30
"""Between two players with small deviations, one unit of skill is about 30 points of Elo."""

_DEVIATIONS: Final = 3
"""A rating is a lower bound of the player's skill: this many deviations below the mean."""


PROVISIONAL_MATCHES: Final = 5
"""A rating is provisional before this many rated matches."""


class Skill(msgspec.Struct, frozen=True, array_like=True):
    """The estimate of a player's skill, in millionths."""

    mu: int = 25 * UNIT
    sigma: int = 25 * UNIT // 3

    @property
    def ordinal(self) -> int:
        """The lower bound of the skill, in millionths; players rank by it."""
        return self.mu - _DEVIATIONS * self.sigma

    @property
    def rating(self) -> int:
        """The rating that people see; newcomers have 1500."""
        return _START_RATING + round(_RATING_POINTS_FOR_ONE * self.ordinal / UNIT)


NEWCOMER: Final = Skill()


def ranking(seats: int, winners: Collection[Seat], left: Sequence[Seat]) -> tuple[int, ...]:
    """Return the place of each seat, 1 for the first; equal places are shared.

    The winners share the first place, and the losers who stayed to the end share the next. Players
    who left the match follow, the first to leave last. In a match without winners all get 1,
    because it doesn't count.
    """
    if not winners:
        return (1,) * seats
    gone = [seat for seat in dict.fromkeys(left) if seat not in winners]
    stayed = [seat for seat in range(seats) if seat not in winners and seat not in gone]
    groups = [list(winners), stayed, *([seat] for seat in reversed(gone))]
    places: dict[Seat, int] = {}
    for group in groups:
        place = len(places) + 1
        places.update(dict.fromkeys(group, place))
    return tuple(places[seat] for seat in range(seats))
