"""Tables: examples by hand, and a plain model that agrees on thousands of tournaments drawn by chance."""

import random
from itertools import combinations, product

import msgspec
import pytest

from domain.tournament.results import (
    USUAL_POINTS,
    PairResult,
    PointScheme,
    ScheduledMatch,
    Tally,
    TieBreakFacts,
)
from domain.tournament.schedule import round_robin
from domain.tournament.table import possible_places, table_of
from services.cli.referee_tournaments import JudgedTable, judge_tournament
from tests.domain.tournament.plain_model import plain_table

RESULTS = [*(str(one) for one in PairResult), None]
NAMES = ["direct", "sonneborn-berger", "wins", "buchholz"]
POINTS = [
    {"win": 1, "draw": 0.5, "loss": 0},
    {"win": 3, "draw": 1, "loss": 0},
    {"win": 0.3, "draw": 0.1, "loss": -0.2},
    {"win": 2, "draw": 1, "loss": 0.75},
    {"win": 0, "draw": 1, "loss": 0},
]


def judged(request):
    """The table of a request, as JSON."""
    asked = msgspec.convert({"tournament": "table", **request}, JudgedTable)
    answer = judge_tournament(asked)
    assert list(answer) == ["ok", "table"]
    return answer["table"]


def table(players, *matches, tiebreaks=(), withdrawn=(), points=None):
    rows = judged(
        {
            "players": players,
            "matches": matches,
            "tiebreaks": tiebreaks,
            "withdrawn": [{"player": player, "kind": kind} for player, kind in withdrawn],
            **({"points": points} if points else {}),
        }
    )
    return {row["player"]: (row["points"], row["place"], *row["tiebreaks"]) for row in rows}


def test_the_table_of_the_page():
    matches = [[0, 1, "1-0"], [2, 3, "1/2"], [0, 4, "+-"], [1, 2, "--"], [3, 4, None]]
    named = ["direct", "sonneborn-berger", "wins"]
    assert table(5, *matches, tiebreaks=named, withdrawn=[(4, "accepted")]) == {
        0: (1, 1, 0, 0, 1),
        1: (0, 4, 0, 0, 0),
        2: (0.5, 2, 0.5, 0.25, 0),
        3: (0.5, 2, 0.5, 0.25, 0),
        4: (0, 4, 0, 0, 0),
    }
    assert table(5, *matches, tiebreaks=named, withdrawn=[(4, "silent")]) == {
        0: (2, 1, 0, 0, 2),
        1: (0, 4, 0, 0, 0),
        2: (0.5, 3, 0, 0.75, 0),
        3: (1.5, 2, 0, 0.25, 1),
        4: (0, 4, 0, 0, 0),
    }


def drawn_request(chance, pairs, players):
    """A tournament with these pairs: results, points, tie-breaks and leavers by chance."""
    open_too = chance.random() < 0.7
    results = RESULTS if open_too else RESULTS[:-1]
    weights = [8, 8, 5, 2, 2, 1, 8][: len(results)]
    leavers = chance.sample(range(players), chance.choice([0, 0, 1, 1, 2, min(3, players)]))
    return {
        "players": players,
        "points": chance.choice(POINTS),
        "tiebreaks": chance.sample(NAMES, chance.randrange(5)),
        "matches": [[*pair, chance.choices(results, weights)[0]] for pair in pairs],
        "withdrawn": [
            {"player": player, "kind": chance.choice(["silent", "accepted"])} for player in leavers
        ],
    }


def robin(chance):
    players = chance.randrange(2, 9)
    return [pair for matches in round_robin(players) for pair in matches], players


def double_robin(chance):
    players = chance.randrange(2, 7)
    return [pair for matches in round_robin(players, double=True) for pair in matches], players


def rounds_by_chance(chance):
    players = chance.randrange(2, 12)
    pairs = []
    for _ in range(chance.randrange(1, 6)):
        order = chance.sample(range(players), players)
        pairs += zip(order[::2], order[1::2], strict=False)
    return pairs, players


def any_pairs(chance):
    players = chance.randrange(2, 7)
    return [chance.sample(range(players), 2) for _ in range(chance.randrange(15))], players


@pytest.mark.parametrize("kind", [robin, double_robin, rounds_by_chance, any_pairs])
def test_a_plain_model_agrees_on_random_tournaments(kind):
    chance = random.Random(kind.__name__)
    shared = separated = 0
    for _ in range(300):
        pairs, players = kind(chance)
        request = drawn_request(chance, pairs, players)
        found = judged(request)
        assert found == plain_table(request), request
        assert all(
            type(value) is int or value % 1
            for row in found
            for value in [row["points"], *row["tiebreaks"]]
        )
        shared += len({row["place"] for row in found}) < players
        separated += any(
            row["tiebreaks"] and row["tiebreaks"] != found[0]["tiebreaks"] for row in found
        )
    assert shared > 30
    assert separated > 150


def scheduled(*matches):
    return [
        ScheduledMatch(a, b, PairResult(result) if result else None) for a, b, result in matches
    ]


def test_tie_breaks_of_sides_ratings_and_lots():
    matches = scheduled((0, 1, "1/2"), (1, 2, "1-0"), (2, 0, "0-1"), (1, 3, "+-"), (0, 3, "1-0"))
    facts = TieBreakFacts(worse_side=1, ratings=[1800, 1700, 1700, 1600], lots=[2, 0, 1, 3])
    tally = Tally(4, USUAL_POINTS, matches, facts)
    (first, second, *_) = table_of(tally, ["worse-side-wins"])
    assert (first.player, first.tiebreaks, second.player, second.tiebreaks) == (0, (1,), 1, (0,))
    first_side = Tally(4, USUAL_POINTS, matches, TieBreakFacts(worse_side=0))
    assert [row.tiebreaks for row in table_of(first_side, ["worse-side-wins"])[:2]] == [(1,), (1,)]
    assert [row.player for row in table_of(tally, ["rating-reversed"])] == [1, 0, 3, 2]
    assert [row.tiebreaks for row in table_of(tally, ["lot"])] == [(0,), (-2,), (-1,), (-3,)]
    equal = Tally(4, USUAL_POINTS, [], facts)
    assert [row.player for row in table_of(equal, ["rating-reversed", "lot"])] == [3, 1, 2, 0]


def completions(matches):
    left = [index for index, match in enumerate(matches) if match.result is None]
    for results in product(PairResult, repeat=len(left)):
        whole = list(matches)
        for index, result in zip(left, results, strict=True):
            whole[index] = whole[index]._replace(result=result)
        yield whole


def test_possible_places_hold_in_every_completion():
    chance = random.Random(3)
    met = 0
    for _ in range(25):
        points = PointScheme(**chance.choice(POINTS))
        breaks = chance.sample(NAMES, 2)
        pairs = list(combinations(range(4), 2))
        still = set(chance.sample(pairs, chance.randrange(4)))
        matches = [
            ScheduledMatch(*pair, None if pair in still else chance.choice(list(PairResult)))
            for pair in pairs
        ]
        bounds = possible_places(Tally(4, points, matches), breaks)
        reached = [set() for _ in range(4)]
        for whole in completions(matches):
            for row in table_of(Tally(4, points, whole), breaks):
                reached[row.player].add(row.place)
        for bound, places in zip(bounds, reached, strict=True):
            assert bound.best <= min(places)
            assert bound.worst >= max(places)
            met += (bound.best, bound.worst) == (min(places), max(places))
        if not still:
            assert all(bound.best == bound.worst for bound in bounds)
    assert met > 60  # of 100: the bounds say something
