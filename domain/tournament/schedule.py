"""Schedules: everybody against everybody by Berger's tables.

In a Berger table of an odd number of players, two meet in the round that the sum of their numbers names, modulo the
number of players. One player rests in each round. With an even number the last player meets the one who would rest.
"""

from collections.abc import Iterator
from typing import Final

MOST_SCHEDULED: Final = 1_000
"""Players of a round robin."""

Pair = tuple[int, int]
"""First and second player of a match."""


def round_robin(players: int, *, double: bool = False) -> list[list[Pair]]:
    """Return the rounds, each with its matches in the order of their lower numbers.

    Each pair meets once, or twice with the sides exchanged. Each player has the first move in half of the matches,
    give or take half a match. There are at least two players.
    """
    turning = players - 1 + players % 2
    rounds = [
        [_sides(one, other, players) for one, other in _berger_round(players, turning, number)]
        for number in range(turning)
    ]
    if double:
        rounds += [[(second, first) for first, second in matches] for matches in rounds]
    return rounds


def _berger_round(players: int, turning: int, number: int) -> Iterator[Pair]:
    """Yield the pairs of a round, the lower number first. All but the last of an even number turn."""
    rests = players - 1 + number
    for one in range(turning):
        other = (rests - one) % turning
        if one < other:
            yield one, other
        elif one == other and players > turning:
            yield one, players - 1


def _sides(lower: int, higher: int, players: int) -> Pair:
    """Return who of a pair has the first move, so that sides are even and alternate."""
    last = players - 1
    if players % 2 == 0 and higher == last:
        return (lower, higher) if lower < players // 2 else (higher, lower)
    return (lower, higher) if (lower + higher - last) % 2 == 0 else (higher, lower)
