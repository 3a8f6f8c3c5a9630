"""The pairing of a round of a Swiss tournament, by a matching of least cost over all pairs that may meet.

The cost of a pair has parts of which an earlier one outweighs all later ones: a rematch, a side had three times in a
row or three times more than the other, the distance in points, an equal wish for a side, and the distance from the half of their
group: the better half of those with equal points meets the worse half, in order. A bye goes to the fewest points.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from domain.tournament.commands import PairRound
from domain.tournament.state import Pairing, TournamentState
from domain.tournament.swiss_rounds import SwissPlayer, field_of, swiss_players
from domain.tournament.terms import ONE_POINT, TournamentTerms

_BYE: Final = -1
"""In place of the opponent of a player with a bye."""

_PART: Final = 1 << 64
"""More than the sum of one part of the cost over a round."""

_STRONG: Final = 3


class _Wish(NamedTuple):
    """A player's wish for a side."""

    strength: int
    """3 after twice the same side, or twice more than the other; 2 after once more, 1 to alternate, 0 for none."""
    side: int


class _GroupPlace(NamedTuple):
    """A player's place among those with equal points."""

    place: int
    """From 0."""
    group: int
    """How many have these points."""


def pair_round(state: TournamentState, terms: TournamentTerms) -> PairRound:
    """Return the command that pairs the next round of a Swiss tournament, the same for the same state."""
    taking_part = frozenset(field_of(state))
    players = [one for one in swiss_players(state, terms) if one.number in taking_part]
    stage = state.stage + 1
    pairs, byes = paired(players)
    pairings = tuple(Pairing(stage, first, second) for first, second in pairs)
    return PairRound(stage=stage, pairings=pairings, byes=byes)


def paired(players: Sequence[SwissPlayer]) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
    """Return the pairs of a round, those with the most points first and in each the one with the first move, and the bye.

    Everybody is paired; raises `ValueError` if a bye is needed and all have had one.
    """
    import networkx as nx  # noqa: PLC0415 - slow, and few processes pair

    order = sorted(players, key=lambda one: (-one.points, one.number))
    standings = _standings(order)
    graph = nx.Graph()
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            graph.add_edge(one.number, other.number, weight=-_cost(one, other, standings))
    if len(order) % 2:
        for place, one in enumerate(order):
            if not one.byes:
                cost = _parts(0, 0, _apart(one, order[-1]), 0, len(order) - place)
                graph.add_edge(one.number, _BYE, weight=-cost)
    matched = nx.max_weight_matching(graph, maxcardinality=True)
    if 2 * len(matched) < len(order):
        raise ValueError("a bye is needed, and all have had one")
    at = {one.number: place for place, one in enumerate(order)} | {_BYE: len(order)}
    couples = sorted(sorted(at[one] for one in pair) for pair in matched)
    pairs = [_sides(order[one], order[two], standings) for one, two in couples if two < len(order)]
    return pairs, tuple(order[one].number for one, two in couples if two == len(order))


def _standings(order: Sequence[SwissPlayer]) -> dict[int, _GroupPlace]:
    groups, seen = Counter(one.points for one in order), Counter[object]()
    found = {}
    for one in order:
        found[one.number] = _GroupPlace(seen[one.points], groups[one.points])
        seen[one.points] += 1
    return found


def _cost(better: SwissPlayer, worse: SwissPlayer, standings: Mapping[int, _GroupPlace]) -> int:
    high, low, clash = standings[better.number], standings[worse.number], _clash(better, worse)
    half = high.group // 2
    if better.points != worse.points:
        # the last of the upper group goes down, to the first of the lower
        away = high.group - 1 - high.place + low.place
    elif (high.place < half) == (low.place < half):
        away = high.group
    else:
        away = low.place - high.place - half
    return _parts(
        better.met.count(worse.number),
        int(clash == _STRONG),
        _apart(better, worse),
        clash**2,
        away**2,
    )


def _parts(*parts: int) -> int:
    """Return one number for the parts of a cost, the weightiest first."""
    cost = 0
    for one in parts:
        cost = cost * _PART + one
    return cost


def _apart(one: SwissPlayer, other: SwissPlayer) -> int:
    """Return the square of the difference in points, in hundredths."""
    return int((one.points - other.points) * ONE_POINT) ** 2


def _wish(player: SwissPlayer) -> _Wish:
    """Return the side that a player had less often, or else not the last time."""
    if not player.sides:
        return _Wish(0, 0)
    more = len(player.sides) - 2 * sum(player.sides)
    last = player.sides[-1]
    twice = len(player.sides) > 1 and player.sides[-2] == last
    if abs(more) > 1:
        return _Wish(_STRONG, int(more > 0))
    if twice:
        return _Wish(_STRONG, 1 - last)
    return _Wish(2, int(more > 0)) if more else _Wish(1, 1 - last)


def _clash(one: SwissPlayer, other: SwissPlayer) -> int:
    """Return how strongly both wish for the same side."""
    mine, theirs = _wish(one), _wish(other)
    return min(mine.strength, theirs.strength) if mine.side == theirs.side else 0


def _sides(
    better: SwissPlayer, worse: SwissPlayer, standings: Mapping[int, _GroupPlace]
) -> tuple[int, int]:
    """Return a pair, the first move to the one who wishes for it more; without wishes it alternates by place."""
    mine, theirs = _wish(better), _wish(worse)
    strongest = mine if mine.strength >= theirs.strength else theirs._replace(side=1 - theirs.side)
    side = strongest.side if strongest.strength else standings[better.number].place % 2
    return (worse.number, better.number) if side else (better.number, worse.number)
