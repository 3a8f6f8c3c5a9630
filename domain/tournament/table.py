"""The table of a tournament: places by points and tie-breaks, and the places that are still possible."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import groupby
from typing import NamedTuple

from domain.tournament.results import Tally
from domain.tournament.tie_breaks import TIE_BREAKS


class TableRow(NamedTuple):
    """A player's row in a table."""

    player: int
    place: int
    """From 1. Players who are equal to the end share a place, and the places after it are skipped: 1, 1, 3."""
    points: Fraction
    tiebreaks: tuple[Fraction, ...]
    """In the order in which they were named."""
    counted: int
    """How many matches with a result count for the player."""


class PossiblePlaces(NamedTuple):
    """The places between which a player will end."""

    best: int
    worst: int


def table_of(tally: Tally, tiebreaks: Sequence[str]) -> list[TableRow]:
    """Return the rows by place, then by player. `tiebreaks` are names of `TIE_BREAKS`, applied in their order.

    A tie-break may be named twice: `direct` after another one looks at smaller groups.
    """
    values: list[list[int]] = [[] for _ in tally.points]
    groups = _split(range(len(tally.points)), tally.points.__getitem__)
    for name in tiebreaks:
        rule = TIE_BREAKS[name]
        split = []
        for group in groups:
            for player, value in zip(group, rule(tally, group), strict=True):
                values[player].append(value)
            split += _split(group, lambda player: values[player][-1])
        groups = split
    # cached, because few numbers differ
    in_points = cache(lambda units: Fraction(units, tally.unit))
    rows, place = [], 1
    for group in groups:
        for player in group:
            points, *tie_breaks = map(in_points, (tally.points[player], *values[player]))
            counted = len(tally.encounters[player])
            rows.append(TableRow(player, place, points, tuple(tie_breaks), counted))
        place += len(group)
    return rows


def _split(group: Iterable[int], value: Callable[[int], int]) -> list[list[int]]:
    """Return the players of a group by value, the highest first; each part has them in their order."""
    ordered = sorted(group, key=value, reverse=True)
    return [list(part) for _, part in groupby(ordered, key=value)]


def possible_places(tally: Tally, tiebreaks: Sequence[str]) -> list[PossiblePlaces]:
    """Return for each player the places that are still possible while nobody leaves.

    The bounds are sound, and may be wider than need be: each player's open matches are judged alone, although two who
    meet can't both win. An open match gives at least the least and at most the most that a match is worth. Ahead for
    certain are those whose least points are more than the player's most. Perhaps ahead are those whose most
    points reach the player's least, because tie-breaks depend on all matches. With no open match the place is known.
    """
    if not any(tally.open):
        places = {row.player: row.place for row in table_of(tally, tiebreaks)}
        return [PossiblePlaces(places[player], places[player]) for player in sorted(places)]
    pairs = list(zip(tally.points, tally.open, strict=True))
    least = [points + left * min(tally.worth) for points, left in pairs]
    most = [points + left * max(tally.worth) for points, left in pairs]
    lowest, highest = sorted(least), sorted(most)
    count = len(pairs)
    return [
        PossiblePlaces(
            1 + count - bisect_right(lowest, most[player]),
            count - bisect_left(highest, least[player]),
        )
        for player in range(count)
    ]
