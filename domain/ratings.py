"""Who came out where in a match, and what a rating is.

A skill is a normal distribution, by the model of Plackett and Luce as Weng and Lin update it: a mean
and a deviation, which shrinks with each match. Both are kept as whole millionths: rounding after
every match makes one history give the same numbers for ever, also where another build of a library
differs in a float's last bit.
"""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from domain.rules import Seat

UNIT: Final = 1_000_000
"""Parts of one unit of skill that are kept."""

_START_SHOWN: Final = 1_500
_SHOWN_FOR_ONE: Final = 30
"""One unit of skill is close to 30 points of Elo's scale, where both players are well known."""

_DEVIATIONS: Final = 3
"""A rating is shown as what the player is at least worth: this many deviations below the mean."""


class Skill(msgspec.Struct, frozen=True, array_like=True):
    """What is believed of a player, in millionths."""

    mu: int = 25 * UNIT
    sigma: int = 25 * UNIT // 3

    @property
    def ordinal(self) -> int:
        """What the player is at least worth, in millionths; players rank by it."""
        return self.mu - _DEVIATIONS * self.sigma

    @property
    def shown(self) -> int:
        """The rating as people see it: newcomers have 1500."""
        return _START_SHOWN + round(_SHOWN_FOR_ONE * self.ordinal / UNIT)


NEWCOMER: Final = Skill()


def ranking(seats: int, winners: Collection[Seat], left: Sequence[Seat]) -> tuple[int, ...]:
    """Return the place of each seat, 1 for the first; equal places are shared.

    The winners share the first, and those who stayed without winning the next. Who left in the
    course of the match comes behind them, the first to leave last. Nobody has a place in a match
    that nobody won: it counts for nothing, and all get 1.
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
