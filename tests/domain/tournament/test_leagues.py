"""Promotion, relegation and qualifying: by hand, and as a plain model has them for a thousand seasons."""

import random
from fractions import Fraction

import pytest

from domain.tournament.league import LeagueNumbers, next_season
from domain.tournament.results import USUAL_POINTS, PairResult, ScheduledMatch, Tally, plain_number
from domain.tournament.schedule import round_robin
from domain.tournament.sections import qualifiers, shared_at, split_sections
from domain.tournament.table import TableRow, table_of
from tests.domain.tournament.plain_model import plain_qualifiers, plain_season


@pytest.mark.parametrize("numbers", [(2, 1, 1), (4, 3, 2), (4, -1, 1), (4, 1, -1)])
def test_numbers_that_do_not_fit_are_refused(numbers):
    with pytest.raises(ValueError, match="no league has these numbers"):
        LeagueNumbers(*numbers)


def test_a_plain_model_agrees_on_a_thousand_seasons():
    chance = random.Random("league")
    merged = 0
    for _ in range(100):
        size = chance.randrange(3, 9)
        up = chance.randrange(size)
        down = chance.randrange(size - up + 1)
        known = chance.randrange(2, 30)
        divisions = next_season([], LeagueNumbers(size, up, down), (), range(known))
        for _ in range(10):
            places = [chance.sample(division, len(division)) for division in divisions]
            everybody = [player for division in divisions for player in division]
            leavers = chance.sample(everybody, min(len(everybody), chance.choice([0, 0, 1, 3])))
            newcomers = range(known, known + chance.choice([0, 1, 2, 5]))
            known += len(newcomers)
            divisions = next_season(places, LeagueNumbers(size, up, down), leavers, newcomers)
            assert divisions == plain_season(places, size, up, down, leavers, newcomers)
            after = sorted(player for division in divisions for player in division)
            assert after == sorted({*everybody, *newcomers} - set(leavers))
            assert all(len(division) == size for division in divisions[:-1])
            merged += any(len(division) > size for division in divisions)
    assert merged > 50


def stage(chance, entrants, size):
    """Tables of the sections of a stage, with results by chance, and with the players of the tournament."""
    tables = []
    for section in split_sections(entrants, size):
        matches = [
            ScheduledMatch(*pair, chance.choice([*PairResult, None]))
            for pairs in round_robin(len(section))
            for pair in pairs
        ]
        rows = table_of(Tally(len(section), USUAL_POINTS, matches), ["wins", "sonneborn-berger"])
        tables.append([row._replace(player=section[row.player]) for row in rows])
    return tables


def as_dict(row):
    return {
        "player": row.player, "place": row.place, "points": plain_number(row.points),
        "counted": row.counted, "tiebreaks": list(row.tiebreaks),
    }  # fmt: skip


def test_a_plain_model_agrees_on_who_goes_on_from_a_thousand_stages():
    chance = random.Random("stages")
    best_next = 0
    for _ in range(1_000):
        tables = stage(chance, chance.randrange(3, 17), chance.randrange(3, 5))
        first = chance.randrange(1, 3)
        total = first * len(tables) + chance.randrange(4)
        right, rest = qualifiers(tables, first, total)
        plain = [[as_dict(row) for row in table] for table in tables]
        expected = plain_qualifiers(plain, first, total)
        assert ([row.player for row in right], [row.player for row in rest]) == expected
        assert len(right) == first * len(tables)
        best_next += len(rest)
    assert best_next > 500


def row(player, place, points, counted=3, *tiebreaks):
    return TableRow(player, place, Fraction(points), tiebreaks, counted)


def test_a_shared_place_at_the_line_is_named():
    table = [row(3, 1, 2), row(0, 2, 1), row(1, 2, 1), row(2, 2, 1)]
    assert [shared_at(table, first) for first in range(5)] == [[], [], [0, 1, 2], [0, 1, 2], []]
