"""Rounds of games for three: groups without repeated company as far as possible, and fair seats."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Final

Three = tuple[int, int, int]

MOST_STEPS: Final = 2_000
"""How many groups a search for threes tries before it allows one more repeated pair."""


def next_threes(players: Sequence[int], earlier: Iterable[Three]) -> tuple[list[Three], list[int]]:
    """Return the next groups of three, and the one or two players who sit out.

    `players` are the numbers of those who take part, the best first; `earlier` has the groups of all rounds before. Those
    sit out who have played most, among them the last. As few pairs as the search finds have played together
    before. In the first round each third of the players has one in each group.
    """
    earlier = list(earlier)
    met = {frozenset(pair) for group in earlier for pair in combinations(group, 2)}
    played = dict.fromkeys(players, 0)
    for group in earlier:
        for player in played.keys() & set(group):
            played[player] += 1
    spare = len(players) % 3
    resting = sorted(players, key=lambda one: (-played[one], -players.index(one)))[:spare]
    staying = [player for player in players if player not in resting]
    third = len(staying) // 3
    spread = [staying[one + third * column] for one in range(third) for column in range(3)]
    return _threes(spread, met), sorted(resting)


def all_rounds_of_threes(
    players: int, rounds: int
) -> tuple[list[list[Three]], list[tuple[int, ...]]]:
    """Return the groups of each round in the order of their seats, and for each round the players who sit out."""
    groups: list[Three] = []
    resting = []
    for _ in range(rounds):
        found, out = next_threes(range(players), groups)
        groups += found
        resting.append(tuple(out))
    size = players // 3
    seated = seated_fairly(groups)
    return [seated[at : at + size] for at in range(0, len(seated), size)], resting


_Node = tuple[int, int]


def seated_fairly(groups: Iterable[Three]) -> list[Three]:
    """Return the groups in another order of their players, so that nobody has a seat twice more than another.

    Three groups in a row of a player are a node, each group is one, and the seats are three colours of the edges between
    them: by König's theorem, no two edges of a node need to have the same.
    """
    seats: defaultdict[_Node, dict[int, _Node]] = defaultdict(dict)
    before: Counter[int] = Counter()
    nodes = []
    for number, group in enumerate(groups):
        here = (-1, number)
        for player in group:
            mine = (player, before[player] // 3)
            before[player] += 1
            seat = next(one for one in range(3) if one not in seats[mine])
            free = next(one for one in range(3) if one not in seats[here])
            _exchange_seats(seats, here, seat, free)
            seats[mine][seat], seats[here][seat] = here, mine
        nodes.append(here)
    return [(seats[node][0][0], seats[node][1][0], seats[node][2][0]) for node in nodes]


def _exchange_seats(
    seats: defaultdict[_Node, dict[int, _Node]], node: _Node, seat: int, free: int
) -> None:
    """Make a seat of a node free that has another `free`, by exchanging the two along the path from there."""
    edges = []
    at, wanted = node, seat
    while wanted in seats[at]:
        edges.append((at, seats[at][wanted], wanted))
        at, wanted = seats[at][wanted], free + seat - wanted
    for one, other, known in edges:
        del seats[one][known], seats[other][known]
    for one, other, known in edges:
        seats[one][free + seat - known], seats[other][free + seat - known] = other, one


def _threes(players: Sequence[int], met: set[frozenset[int]]) -> list[Three]:
    """Return groups with as few repeated pairs as are found by exchanges, or else by a search."""
    # whatever is tried first is found if all three pairs of each group may be repeated
    exchanged = _exchange(_search(players, met, len(players)) or [], met)
    most = sum(_repeated(group, met) for group in exchanged)
    searched = (_search(players, met, allowed) for allowed in range(most))
    return next((groups for groups in searched if groups is not None), exchanged)


def _repeated(group: Three, met: set[frozenset[int]]) -> int:
    return sum(frozenset(pair) in met for pair in combinations(group, 2))


def _exchange(groups: list[Three], met: set[frozenset[int]]) -> list[Three]:
    """Return the groups after exchanges of two players, as long as each leaves fewer repeated pairs."""
    groups = list(groups)
    bad = [number for number, group in enumerate(groups) if _repeated(group, met)]
    while bad:
        here = bad.pop()
        for there, seat, other in product(range(len(groups)), range(3), range(3)):
            if here == there:
                continue
            left, right = list(groups[here]), list(groups[there])
            left[seat], right[other] = right[other], left[seat]
            new = (left[0], left[1], left[2]), (right[0], right[1], right[2])
            before = _repeated(groups[here], met) + _repeated(groups[there], met)
            if sum(_repeated(group, met) for group in new) < before:
                groups[here], groups[there] = new
                bad += [here, there]
                break
    return groups


def _search(players: Sequence[int], met: set[frozenset[int]], allowed: int) -> list[Three] | None:
    """Return groups of all players with at most so many repeated pairs; None if none were found."""
    groups: list[Three] = []
    levels = [(tuple(players), allowed, _choices(tuple(players), met, allowed))]
    for _ in range(MOST_STEPS + len(players)):
        rest, left, choices = levels[-1]
        if not rest:
            return groups
        chosen = next(choices, None)
        if chosen is not None:
            repeated, group = chosen
            groups.append(group)
            rest = tuple(one for one in rest if one not in group)
            levels.append((rest, left - repeated, _choices(rest, met, left - repeated)))
        elif groups:
            groups.pop()
            levels.pop()
        else:
            return None
    return None


def _choices(
    players: tuple[int, ...], met: set[frozenset[int]], allowed: int
) -> Iterator[tuple[int, Three]]:
    """Yield the groups of the first player with their repeated pairs, those with the fewest first."""
    for repeated in range(min(allowed, 3) + 1):
        for one, other in combinations(players[1:], 2):
            group = players[0], one, other
            if _repeated(group, met) == repeated:
                yield repeated, group
