"""The pairing of a Swiss round: compared with all possible rounds of small fields, and over whole tournaments."""

import random
from collections.abc import Iterator
from fractions import Fraction

import pytest

from domain.tournament.swiss_rounds import SwissPlayer
from workers.swiss_pairing import paired

Pairs = list[tuple[int, int]]


def players(count: int, rounds: int, chance: random.Random) -> list[SwissPlayer]:
    """Players after some rounds that were paired by the product, with results by chance."""
    points = [Fraction(0)] * count
    met: list[list[int]] = [[] for _ in range(count)]
    sides: list[list[int]] = [[] for _ in range(count)]
    byes = [0] * count

    def now() -> list[SwissPlayer]:
        return [
            SwissPlayer(n, points[n], tuple(met[n]), tuple(sides[n]), byes[n]) for n in range(count)
        ]

    for _ in range(rounds):
        pairs, without = paired(now())
        for player in without:
            byes[player] += 1
            points[player] += 1
        for pair in pairs:
            won = chance.choice([Fraction(0), Fraction(1, 2), Fraction(1)])
            for side, player in enumerate(pair):
                met[player].append(pair[1 - side])
                sides[player].append(side)
                points[player] += abs(side - won)
    return now()


def all_rounds(field: list[int]) -> Iterator[Pairs]:
    """All ways to pair players, whatever the sides; a player with themselves has the bye."""
    if not field:
        yield []
        return
    first, rest = field[0], field[1:]
    if len(field) % 2:
        for others in all_rounds(rest):
            yield [(first, first), *others]
    for other in rest:
        left = [one for one in rest if one != other]
        for others in all_rounds(left):
            if sum(one == two for one, two in others) <= 1:
                yield [(first, other), *others]


def wants(player: SwissPlayer) -> set[int]:
    """The sides that a player must not have: a third time in a row, or three times more than the other."""
    return {
        side
        for side in (0, 1)
        if player.sides[-2:] == (side, side)
        or player.sides.count(side) + 1 - player.sides.count(1 - side) > 2
    }


def badness(pairs: Pairs, field: list[SwissPlayer]) -> tuple[int, int, Fraction]:
    """Rematches, pairs without fair sides, and squares of the differences in points."""
    lowest = min(one.points for one in field)
    met = broken = 0
    apart = Fraction(0)
    for one, two in pairs:
        a, b = field[one], field[two]
        if one == two:
            apart += (a.points - lowest) ** 2
            continue
        met += a.met.count(two)
        broken += bool(wants(a) & wants(b))
        apart += (a.points - b.points) ** 2
    return met, broken, apart


@pytest.mark.parametrize("seed", range(20))
def test_no_other_round_of_a_small_field_has_fewer_rematches_fairer_sides_or_closer_points(
    seed: int,
) -> None:
    chance = random.Random(seed)
    count = chance.randint(3, 8)
    field = players(count, chance.randint(0, count - 1), chance)
    pairs, byes = paired(field)
    mine = badness([*pairs, *((one, one) for one in byes)], field)
    possible = [
        one
        for one in all_rounds([*range(count)])
        if not any(first == second and field[first].byes for first, second in one)
    ]
    assert mine == min(badness(one, field) for one in possible)


def test_sixty_four_players_over_seven_rounds() -> None:
    field = players(64, 7, random.Random(7))
    for one in field:
        assert len(set(one.met)) == 7
        assert abs(one.sides.count(0) - one.sides.count(1)) <= 2
        assert not any(len(set(one.sides[at : at + 3])) == 1 for at in range(5))


def test_a_bye_is_needed_and_all_have_had_one() -> None:
    field = [SwissPlayer(n, Fraction(1), (), (), 1) for n in range(3)]
    with pytest.raises(ValueError, match="all have had one"):
        paired(field)
