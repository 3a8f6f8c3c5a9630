"""Tie-breaks: one number for each player of a group that is equal so far, the larger the better.

A group has equal points and equal numbers in all earlier tie-breaks. The numbers are in the units of the tally.
Cancelled matches, and those without a result, count in none of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from domain.tournament.results import Encounter, Half, Tally

TieBreakRule = Callable[[Tally, Sequence[int]], list[int]]
"""Returns a number for each player of a group, in the group's order."""


def direct(tally: Tally, group: Sequence[int]) -> list[int]:
    """Return the points made within the group; 0 for all if some pair of it has no match with a result."""
    within = frozenset(group)
    others = len(group) - 1
    if not all(len(_met(tally, player) & within) == others for player in group):
        return [0] * len(group)
    return [
        sum(one.made for one in tally.encounters[player] if one.other in within) for player in group
    ]


def _met(tally: Tally, player: int) -> frozenset[int]:
    return frozenset(one.other for one in tally.encounters[player])


def sonneborn_berger(tally: Tally, group: Sequence[int]) -> list[int]:
    """Return the final points of those beaten and half of those drawn with, whatever a win is worth."""
    return [
        sum(one.half * tally.points[one.other] for one in tally.encounters[player]) // Half.WON
        for player in group
    ]


def wins(tally: Tally, group: Sequence[int]) -> list[int]:
    """Return the number of matches won, by forfeit too."""
    return _count(tally, group, lambda one: one.half is Half.WON)


def buchholz(tally: Tally, group: Sequence[int]) -> list[int]:
    """Return the sum of the opponents' final points, for each match with a result."""
    return [sum(tally.points[one.other] for one in tally.encounters[player]) for player in group]


def wins_with_worse_side(tally: Tally, group: Sequence[int]) -> list[int]:
    """Return the number of matches won on the board with the worse side; 0 for all if no side is worse."""
    worse = tally.facts.worse_side
    return _count(
        tally, group, lambda one: one.half is Half.WON and one.played and one.side == worse
    )


def rating_reversed(tally: Tally, group: Sequence[int]) -> list[int]:
    """Return the rating at the start, negative, so that the lower rating is the better place."""
    return [-tally.facts.ratings[player] * tally.unit for player in group]


def lot(tally: Tally, group: Sequence[int]) -> list[int]:
    """Return the lot that was drawn, negative, so that the lowest lot is the best place."""
    return [-tally.facts.lots[player] * tally.unit for player in group]


def _count(tally: Tally, group: Sequence[int], counts: Callable[[Encounter], bool]) -> list[int]:
    return [tally.unit * sum(map(counts, tally.encounters[player])) for player in group]


FROM_RESULTS: Final[Mapping[str, TieBreakRule]] = {
    "direct": direct,
    "sonneborn-berger": sonneborn_berger,
    "wins": wins,
    "buchholz": buchholz,
}
"""Those that follow from the results alone, by their names for the referee."""

TIE_BREAKS: Final[Mapping[str, TieBreakRule]] = {
    **FROM_RESULTS,
    "worse-side-wins": wins_with_worse_side,
    "rating-reversed": rating_reversed,
    "lot": lot,
}
"""All by name; the last three need `TieBreakFacts`."""
