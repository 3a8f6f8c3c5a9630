"""Knockout: the bracket, ties of one or more matches, and the tie for third place."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from domain.tournament.results import PointScheme, ScheduledMatch, Tally
from domain.tournament.schedule import Pair

Tie = tuple[int, int | None]
"""Two players of whom one goes on, the lower number first; a player with None has a bye."""


def first_round(players: int) -> list[Tie]:
    """Return the ties of the first round, in order of the bracket: the winners of neighbours meet.

    Byes go to the first players. If the lower number always wins, 0 meets 1 in the final only, the first four are in the
    semifinals, the first eight in the quarterfinals, and so on. There are at least two players.
    """
    slots = [0]
    while len(slots) < players:
        last = 2 * len(slots) - 1
        # every second tie is upside down, so that 1 ends at the bottom
        pairs = [
            (one, last - one) if number % 2 == 0 else (last - one, one)
            for number, one in enumerate(slots)
        ]
        slots = [player for pair in pairs for player in pair]
    ties = [sorted(pair) for pair in zip(slots[::2], slots[1::2], strict=True)]
    return [(one, other if other < players else None) for one, other in ties]


def next_round(winners: Sequence[int]) -> list[Tie]:
    """Return the ties of the winners of a round, which are in order of the bracket."""
    return [(min(pair), max(pair)) for pair in zip(winners[::2], winners[1::2], strict=True)]


def third_place(semifinals: Sequence[Tie], finalists: Iterable[int]) -> Tie | None:
    """Return the tie of those who lost the semifinals; None if a bye left only one of them."""
    finalists = frozenset(finalists)
    lost = [
        player
        for tie in semifinals
        for player in tie
        if player is not None and player not in finalists
    ]
    return (min(lost), max(lost)) if len(lost) > 1 else None


def tie_matches(tie: Pair, count: int, before: int = 0) -> list[Pair]:
    """Return the pairs of so many matches of a tie, sides exchanged from one to the next.

    `before` is how many matches it has had, so that more matches of a drawn tie go on with the exchange.
    """
    first, second = tie
    return [
        (first, second) if number % 2 == 0 else (second, first)
        for number in range(before, before + count)
    ]


class TieScore(NamedTuple):
    """How a tie stands."""

    winner: int | None
    """The player who goes on; None if that is open, or the tie is drawn."""
    drawn: bool
    """Whether all matches are over and both have equal points: then the rule that was named before decides."""


def tie_score(tie: Tie, matches: Sequence[ScheduledMatch], points: PointScheme) -> TieScore:
    """Return how a tie stands after its matches. It is won as soon as the other can't catch up.

    One with a bye goes on without a match.
    """
    one, other = tie
    if other is None:
        return TieScore(one, drawn=False)
    numbers = {one: 0, other: 1}
    tally = Tally(
        2,
        points,
        [ScheduledMatch(numbers[m.first], numbers[m.second], m.result) for m in matches],
    )
    ahead = tally.points[0] - tally.points[1]
    left = tally.open[0] * (max(tally.worth) - min(tally.worth))
    if abs(ahead) > left:
        return TieScore(one if ahead > 0 else other, drawn=False)
    return TieScore(None, drawn=not tally.open[0] and bool(matches))
