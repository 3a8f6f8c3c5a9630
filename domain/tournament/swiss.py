"""Whether a recorded round of a Swiss tournament obeys the rules that the tournament names. It pairs nobody."""

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.sentences import Sentence, Sentences
from domain.tournament.schedule import Pair

SAY: Final = Sentences(
    "swiss",
    {
        "field": "player {player} doesn't take part in this round",
        "twice": "player {player} is in this round twice",
        "missing": "player {player} is missing in this round",
        "byes": "{players} players take part, and the number of byes is {byes}",
        "second-bye": "player {player} has had a bye already",
        "rematch": "players {first} and {second} have met already",
        "float": "players {first} and {second} are more than {most} apart in points",
        "colours": "player {player} has had one side {times} times more than the other",
        "in-a-row": "player {player} has the same side {times} times in a row",
    },
)


class SwissRound(msgspec.Struct, frozen=True):
    """A round: its pairs, the first player's side first, and the players with a bye."""

    pairs: tuple[Pair, ...]
    byes: tuple[int, ...] = ()


class SwissRules(msgspec.Struct, frozen=True):
    """The rules of pairings that a tournament names; None where it names none."""

    rematches: bool = False
    most_apart: Fraction | None = None
    """The most points between the players of a pair."""
    most_uneven: int | None = 2
    """How many times more one may have had one side than the other."""
    most_in_a_row: int | None = 2
    """How many times in a row one may have the same side; a bye between them changes nothing."""


def check_round(
    paired: SwissRound,
    earlier: Sequence[SwissRound],
    field: Collection[int],
    points: Sequence[Fraction],
    rules: SwissRules,
) -> None:
    """Refuse a round that breaks a rule, as `bad-tournament` with the first player concerned.

    `earlier` has all rounds before, `field` the players who take part in this one, and `points` those of all players
    before it. Each player of the field is paired or has a bye; there is a bye only if their number is odd, and nobody has two
    in a tournament.
    """
    problem = (
        _of_field(paired, frozenset(field))
        or _of_byes(paired, earlier, len(field))
        or _of_pairs(paired, earlier, points, rules)
        or _of_sides((*earlier, paired), sorted(field), rules)
    )
    if problem is not None:
        raise Refusal(Code.BAD_TOURNAMENT, problem)


def _of_field(paired: SwissRound, field: frozenset[int]) -> Sentence | None:
    times = Counter(player for pair in paired.pairs for player in pair)
    times.update(paired.byes)
    for player in sorted(times):
        if player not in field:
            return SAY("field", player=player)
        if times[player] > 1:
            return SAY("twice", player=player)
    return next((SAY("missing", player=one) for one in sorted(field - times.keys())), None)


def _of_byes(paired: SwissRound, earlier: Sequence[SwissRound], players: int) -> Sentence | None:
    if len(paired.byes) != players % 2:
        return SAY("byes", byes=len(paired.byes), players=players)
    had = {player for one in earlier for player in one.byes}
    return next((SAY("second-bye", player=one) for one in paired.byes if one in had), None)


def _of_pairs(
    paired: SwissRound,
    earlier: Sequence[SwissRound],
    points: Sequence[Fraction],
    rules: SwissRules,
) -> Sentence | None:
    met = {frozenset(pair) for one in earlier for pair in one.pairs}
    for first, second in paired.pairs:
        if not rules.rematches and frozenset((first, second)) in met:
            return SAY("rematch", first=first, second=second)
        apart = abs(points[first] - points[second])
        if rules.most_apart is not None and apart > rules.most_apart:
            return SAY("float", first=first, second=second, most=str(rules.most_apart))
    return None


def _of_sides(
    rounds: Sequence[SwissRound], field: Sequence[int], rules: SwissRules
) -> Sentence | None:
    sides: dict[int, list[int]] = {player: [] for player in field}
    for one in rounds:
        for pair in one.pairs:
            for side, player in enumerate(pair):
                sides.setdefault(player, []).append(side)
    for player in field:
        had = sides[player]
        uneven = abs(len(had) - 2 * sum(had))
        if rules.most_uneven is not None and uneven > rules.most_uneven:
            return SAY("colours", player=player, times=uneven)
        row = _last_in_a_row(had)
        if rules.most_in_a_row is not None and row > rules.most_in_a_row:
            return SAY("in-a-row", player=player, times=row)
    return None


def _last_in_a_row(sides: Sequence[int]) -> int:
    """Return how many of the last sides are the same."""
    count = 0
    while count < len(sides) and sides[-1 - count] == sides[-1]:
        count += 1
    return count
