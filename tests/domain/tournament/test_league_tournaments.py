"""Leagues by their commands: seasons by date, promotion, leavers and newcomers; and as a plain model has them."""

import random
from fractions import Fraction

import msgspec
import pytest

from domain.aggregates import verify
from domain.errors import Code
from domain.match.history import BrokenHistory
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import (
    ConfirmPlaces,
    EnterTournament,
    LeaveTournament,
    PairRound,
    StartTournament,
    WithdrawPlayer,
)
from domain.tournament.decide import next_due
from domain.tournament.events import LeftAfterSeason, SectionPaired
from domain.tournament.form_terms import LeagueTerms
from domain.tournament.league import LeagueNumbers
from domain.tournament.results import USUAL_POINTS, PairResult, ScheduledMatch, Tally, plain_number
from domain.tournament.schedule import round_robin
from domain.tournament.seasons import division_changes, season_sections
from domain.tournament.sections import qualifiers, shared_at, split_sections
from domain.tournament.state import Phase
from domain.tournament.table import TableRow, table_of
from tests.domain.tournament.plain_model import plain_qualifiers, plain_season, plain_table
from tests.helpers.tournaments import ORGANISER, Tournament

DIGEST = b"r" * 32
OF_LEAGUE = {
    "form": "league",
    "section": 0,
    "capacity": 0,
    "when_full": False,
    "days": 30,
    "league": LeagueTerms(size=4, up=1, down=1, seasons=3),
}


def league(players=8, **changes):
    """A league that has started; player 0 is the one with the highest rating."""
    held = Tournament()
    held.draft(**{**OF_LEAGUE, **changes})
    for number in range(players):
        held.do(account(number), EnterTournament(rating=2000 - number))
    held.do(ORGANISER, StartTournament())
    return held


def account(number):
    return b"player%02d" % number


def win_by_rating(held, *, until=10**9):
    """Report all matches that are not over as won by the lower number."""
    for number, one in list(held.state.pairings):
        if held.state.is_open(number) and number < until:
            held.report("1-0" if one.first < one.second else "0-1", first=number)


def pair(held):
    return held.do(SERVER_ACCOUNT, PairRound(stage=held.state.stage + 1))


def changes(held, section):
    return division_changes(held.state.sections[section], held.state, held.state.terms)


def test_what_is_refused_in_a_running_league():
    """Who leaves, comes back and enters, and in which division they then are, is as the plain model has it."""
    held = league(capacity=8)
    (left,) = held.do(account(1), LeaveTournament())
    assert left == LeftAfterSeason(account=account(1), player=1)
    assert held.state.left == 12
    held.do(ORGANISER, WithdrawPlayer(account=account(3), kind="silent", text=DIGEST))
    held.do(account(8), EnterTournament(rating=1))
    held.do(account(9), EnterTournament(rating=1))
    gone = Code.TOO_LATE, "the player has left the tournament already"
    full = Code.TOO_MANY, "the league has no room for another player"
    for actor, command, refusal in (
        (account(1), LeaveTournament(), (Code.NOT_ENTERED, "there is no such entry")),
        (account(2), EnterTournament(rating=1), (Code.ALREADY_ENTERED, "you have already entered")),
        (account(3), EnterTournament(rating=1), gone),
        (account(3), LeaveTournament(), gone),
        (account(1), EnterTournament(rating=1), full),
        (account(10), EnterTournament(rating=1), full),
    ):
        assert held.refuses(actor, command) == refusal
    stranger = LeaveTournament(account=account(2))
    assert held.refuses(account(0), stranger)[0] == Code.NOT_AN_ORGANISER
    held.do(ORGANISER, stranger)
    assert held.state.leaving == (1, 2)
    assert held.refuses(SERVER_ACCOUNT, PairRound(stage=3))[0] == Code.TOO_LATE
    assert held.refuses(ORGANISER, PairRound(stage=2))[0] == Code.NOT_ALLOWED
    pair(held)
    pair(held)
    over = Code.TOO_LATE, "no season follows any more"
    assert held.refuses(SERVER_ACCOUNT, PairRound(stage=4)) == over
    assert held.refuses(account(11), EnterTournament(rating=1)) == over
    assert held.refuses(account(9), LeaveTournament())[0] == Code.TOO_LATE
    assert next_due(held.state) == 0
    held.holds()


def test_a_withdrawn_player_is_out_of_all_seasons_and_finished_seasons_stand():
    held = league()
    # player 3 wins the first season by forfeits alone, which half of the matches would not stand for
    for number in range(6):
        one = dict(held.state.pairings)[number]
        held.report("+-" if one.first == 3 else "-+" if one.second == 3 else "1/2", first=number)
    before = held.rows(held.state.sections[0])
    pair(held)
    held.do(ORGANISER, WithdrawPlayer(account=account(3), kind="accepted", text=DIGEST))
    form_rows = changes(held, 0)
    assert form_rows[3] == 0
    win_by_rating(held)
    pair(held)
    assert not any(3 in one.players for one in season_sections(held.state, 3))
    win_by_rating(held)
    held.do(ORGANISER, ConfirmPlaces())
    assert held.state.places[0][0].player == 3 == before[0].player
    assert held.state.places[0][0].points == 300
    assert held.state.places[2][-1].points == 0
    assert held.refuses(account(3), EnterTournament(rating=1))[0] == Code.TOO_LATE
    held.holds()


def test_a_league_that_all_but_two_leave_ends_with_its_last_match():
    held = league(players=4)
    held.do(account(0), LeaveTournament())
    assert next_due(held.state) > 0
    held.do(account(1), LeaveTournament())
    assert next_due(held.state) == 0
    assert held.refuses(SERVER_ACCOUNT, PairRound(stage=2))[0] == Code.TOO_EARLY
    held.do(account(9), EnterTournament(rating=1))
    assert next_due(held.state) > 0
    held.do(account(9), LeaveTournament())
    win_by_rating(held)
    assert held.state.phase is Phase.FINISHED
    assert changes(held, 0) == {}
    held.holds()


def test_recorded_divisions_may_have_another_order_but_no_other_players():
    held = league()
    pair(held)
    seq, body = next(
        (n, one) for n, one in enumerate(held.bodies, 1) if isinstance(one, SectionPaired) and one.stage == 2
    )  # fmt: skip
    # sides exchanged in all pairings, and players in another order
    turned = tuple(
        msgspec.structs.replace(one, first=one.second, second=one.first) for one in body.pairings
    )
    other = msgspec.structs.replace(body, players=body.players[::-1], pairings=turned)
    verify(held.number, held.forged(seq, body=other))
    swapped = tuple(7 if one == 0 else one for one in body.players)
    for forged in (
        msgspec.structs.replace(body, players=swapped),
        msgspec.structs.replace(body, pairings=body.pairings[:-1]),
    ):
        with pytest.raises(BrokenHistory):
            verify(held.number, held.forged(seq, body=forged))


# a plain model


def request_of(section, results, gone):
    """A section as the plain model reads one; `results` are those that the test itself has reported."""
    numbers = {player: at for at, player in enumerate(section.players)}
    matches = [
        [numbers[one.first], numbers[one.second], results.get(at)]
        for at, one in enumerate(section.pairings, section.first)
    ]
    withdrawn = [
        {"player": numbers[player], "kind": "silent"} for player in gone if player in numbers
    ]
    return {"players": len(numbers), "matches": matches, "withdrawn": withdrawn,
            "tiebreaks": ["direct", "sonneborn-berger", "wins"]}  # fmt: skip


def come_and_go(held, chance, playing, gone, leaving):
    """Take out, and let leave, come back and enter, some players by chance; `gone` and `leaving` are kept.

    One who is silent loses the open matches, and all others stand as they are.
    """
    if chance.random() < 0.3 and (player := chance.choice(playing)) not in gone:
        held.do(ORGANISER, WithdrawPlayer(account=account(player), kind="silent", text=DIGEST))
        gone.add(player)
        leaving.discard(player)
    known = len(held.state.entrants)
    for player in chance.sample(range(known), min(known, chance.choice([0, 1, 2]))):
        if player not in gone and known - len(leaving) - len(gone) > 4:
            again = player in leaving
            held.do(account(player), EnterTournament(rating=1) if again else LeaveTournament())
            leaving ^= {player}
    if held.state.phase is Phase.RUNNING:
        for number in range(known, known + chance.choice([0, 0, 1, 3])):
            held.do(account(number), EnterTournament(rating=1))


def play_league(chance):
    """Play a league by chance, and compare each season with the plain model; return how many seasons there were."""
    size = chance.randrange(3, 6)
    up = chance.randrange(size)
    down = chance.randrange(size - up + 1)
    rules = LeagueTerms(size, up, down, chance.randrange(2, 5))
    first = chance.randrange(3, 13)
    held = league(players=first, league=rules, cycles=chance.choice([1, 1, 2]))
    results, gone, leaving = {}, set(), set()
    expected = plain_season([], size, up, down, (), list(range(first)))
    for season in range(1, rules.seasons + 1):
        sections = season_sections(held.state, season)
        assert [list(one.players) for one in sections] == expected
        for number in range(held.state.count):
            if number not in results and held.state.is_open(number) and chance.random() < 0.7:
                results[number] = chance.choice(["1-0", "0-1", "1/2", "+-"])
                held.report(results[number], first=number)
        if season == rules.seasons:
            break
        come_and_go(held, chance, chance.choice(expected), gone, leaving)
        known = range(len(held.state.entrants))
        if len(known) - len(leaving) - len(gone) < 3:
            return season
        tables = [plain_table(request_of(section, results, gone)) for section in sections]
        places = [
            [section.players[row["player"]] for row in table]
            for section, table in zip(sections, tables, strict=True)
        ]
        out = leaving | gone | {player for one in expected for player in one}
        new = [player for player in known if player not in out]
        expected = plain_season(places, size, up, down, leaving | gone, new)
        pair(held)
    held.holds()
    return rules.seasons


@pytest.mark.parametrize("count", [40, pytest.param(1_000, marks=pytest.mark.long)])
def test_a_plain_model_agrees_on_leagues_by_chance(count):
    seasons = sum(play_league(random.Random(f"league {number}")) for number in range(count))
    assert seasons > 2 * count


def test_the_worked_season_of_the_documentation():
    anna, ben, carl, dora, emil, fay, gus, hana, ida, jon, kim, lea = range(12)
    held = league(players=11)
    won = {(anna, ben), (anna, carl), (anna, dora), (ben, carl), (ben, dora), (emil, gus),
           (fay, gus), (emil, hana), (fay, hana), (gus, hana), (kim, ida), (kim, jon), (ida, jon)}  # fmt: skip
    for number, one in list(held.state.pairings):
        pair_ = one.first, one.second
        if {carl, dora} != set(pair_):
            made = "1-0" if pair_ in won else "0-1" if pair_[::-1] in won else "1/2"
            held.report(made, first=number)
    tables = [
        [(row.player, row.place, float(row.points)) for row in held.rows(section)]
        for section in held.state.sections
    ]
    assert tables == [
        [(anna, 1, 3), (ben, 2, 2), (carl, 3, 0), (dora, 3, 0)],
        [(emil, 1, 2.5), (fay, 1, 2.5), (gus, 3, 1), (hana, 4, 0)],
        [(kim, 1, 2), (ida, 2, 1), (jon, 3, 0)],
    ]
    held.do(account(carl), LeaveTournament())
    held.do(account(lea), EnterTournament(rating=2500))
    assert [changes(held, section) for section in range(3)] == [
        {anna: 0, ben: 0, carl: None, dora: -1},
        {emil: 1, fay: 1, gus: 0, hana: -1},
        {ida: 1, jon: 0, kim: 1},
    ]
    pair(held)
    assert [list(one.players) for one in season_sections(held.state, 2)] == [
        [anna, ben, emil, fay],
        [gus, dora, kim, ida],
        [jon, hana, lea],
    ]


# --- promotion, relegation and qualifying: by hand, and as a plain model has them for


@pytest.mark.parametrize("numbers", [(2, 1, 1), (4, 3, 2), (4, -1, 1), (4, 1, -1)])
def test_numbers_that_do_not_fit_are_refused(numbers):
    with pytest.raises(ValueError, match="no league has these numbers"):
        LeagueNumbers(*numbers)


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


def test_a_plain_model_agrees_on_who_goes_on_from_a_stage():
    chance = random.Random("stages")
    best_next = 0
    for _ in range(300):
        tables = stage(chance, chance.randrange(3, 17), chance.randrange(3, 5))
        first = chance.randrange(1, 3)
        total = first * len(tables) + chance.randrange(4)
        right, rest = qualifiers(tables, first, total)
        plain = [[as_dict(row) for row in table] for table in tables]
        expected = plain_qualifiers(plain, first, total)
        assert ([row.player for row in right], [row.player for row in rest]) == expected
        assert len(right) == first * len(tables)
        best_next += len(rest)
    assert best_next > 150


def row(player, place, points, counted=3, *tiebreaks):
    return TableRow(player, place, Fraction(points), tiebreaks, counted)


def test_a_shared_place_at_the_line_is_named():
    table = [row(3, 1, 2), row(0, 2, 1), row(1, 2, 1), row(2, 2, 1)]
    assert [shared_at(table, first) for first in range(5)] == [[], [], [0, 1, 2], [0, 1, 2], []]
