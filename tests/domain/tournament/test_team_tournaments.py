"""Tournaments of teams: who plays for which, who meets whom, and the table of teams beside a plain model."""

import random
from fractions import Fraction
from typing import Any

import pytest

from domain.errors import Code
from domain.records import SERVER_ACCOUNT
from domain.tournament.commands import (
    CancelTournament,
    ConfirmPlaces,
    EnterTournament,
    JoinTeam,
    LeaveTournament,
    NameTeam,
    StartTournament,
    SubstituteInTournament,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.decide import due_command
from domain.tournament.events import EntryTakenBack, TeamNamed, TournamentFinished
from domain.tournament.form_terms import TeamTerms
from domain.tournament.state import FinalPlace, Phase
from domain.tournament.team_form import team_matches, team_table
from tests.helpers.given import BEGIN
from tests.helpers.tournaments import ORGANISER, PLAYERS, Tournament, terms_of_three

DIGEST = bytes(32)
OF_TWO: dict[str, Any] = {
    "form": "teams",
    "section": 0,
    "capacity": 0,
    "when_full": False,
    "tiebreaks": (),
    "teams": TeamTerms(2),
}
ONE, OTHER, THIRD = PLAYERS[0], PLAYERS[2], PLAYERS[4]
"""Captains, each of whom plays before the next of `PLAYERS`."""


def opened(**changes: Any) -> Tournament:
    found = Tournament()
    found.draft(**{**OF_TWO, **changes})
    return found


def team(found: Tournament, captain: bytes, *players: bytes, rating: int = 1500) -> None:
    """Name a team whose players all enter."""
    found.do(captain, NameTeam(players=players))
    for one in players:
        found.do(one, JoinTeam(captain=captain, rating=rating))


def begun(teams: int, size: int = 2, **changes: Any) -> Tournament:
    """Teams of PLAYERS one after the other, the first of which is rated highest; the first of each is its captain."""
    found = opened(teams=TeamTerms(size), **changes)
    for at in range(0, teams * size, size):
        team(found, PLAYERS[at], *PLAYERS[at : at + size], rating=2000 - at)
    found.do(ORGANISER, StartTournament())
    return found


def test_a_captain_names_players_who_then_enter_and_who_is_no_longer_named_is_out():
    found = opened()
    found.do(ONE, NameTeam(players=(ONE, PLAYERS[1], PLAYERS[6])))
    found.do(PLAYERS[6], JoinTeam(captain=ONE, rating=1400))
    found.do(ONE, JoinTeam(captain=ONE, rating=1500))
    (own,) = found.state.teams
    assert own.ready == (ONE, PLAYERS[6])  # in the captain's order
    events = found.do(ONE, NameTeam(players=(PLAYERS[1], ONE)))
    assert events == [TeamNamed(players=(PLAYERS[1], ONE)), EntryTakenBack(account=PLAYERS[6])]
    assert [one.account for one in found.state.entrants] == [ONE]
    found.do(ONE, LeaveTournament())
    assert found.state.teams[0].ready == ()
    found.do(ONE, NameTeam(players=()))
    assert found.state.teams == ()
    found.holds()


@pytest.mark.parametrize(
    ("actor", "command", "code", "part"),
    [
        (PLAYERS[5], EnterTournament(rating=1), Code.AGAINST_TERMS, "in a team"),
        (ONE, JoinTeam(captain=ONE, rating=1), Code.ALREADY_ENTERED, "already entered"),
        (PLAYERS[5], JoinTeam(captain=THIRD, rating=1), Code.AGAINST_TERMS, "no such team"),
        (PLAYERS[5], JoinTeam(captain=ONE, rating=1), Code.AGAINST_TERMS, "ask its cap"),
        (PLAYERS[1], JoinTeam(captain=ONE, rating=99), Code.AGAINST_TERMS, "100 or higher"),
        (ONE, NameTeam(players=(ONE, ONE)), Code.TOO_MANY, "named once"),
        (ONE, NameTeam(players=PLAYERS[:13]), Code.TOO_MANY, "up to 12 players"),
        (THIRD, NameTeam(players=()), Code.AGAINST_TERMS, "no such team"),
        (ORGANISER, StartTournament(), Code.TOO_EARLY, "two teams with 2 players each"),
    ],
)
def test_what_is_refused_before_the_start_changes_nothing(actor, command, code, part):
    found = opened(least_rating=100)
    team(found, OTHER, OTHER, PLAYERS[3])
    found.do(ONE, NameTeam(players=(ONE, PLAYERS[1])))
    found.do(ONE, JoinTeam(captain=ONE, rating=1500))
    before = found.state
    refused, said = found.refuses(actor, command)
    assert (refused, part in said) == (code, True), said
    assert found.state == before


def test_there_are_no_teams_in_other_forms_and_no_more_than_sixteen():
    single = Tournament()
    single.draft(when_full=False)
    assert single.refuses(ONE, NameTeam(players=(ONE,)))[0] == Code.NOT_ALLOWED
    found = opened()
    for one in PLAYERS[:16]:
        found.do(one, NameTeam(players=(one,)))
    assert found.refuses(PLAYERS[16], NameTeam(players=(PLAYERS[16],)))[0] == Code.TOO_MANY


def test_only_complete_teams_play_the_strongest_is_the_first_and_all_others_are_reserves():
    found = opened(starts=BEGIN + 86_400_000)
    team(found, ONE, ONE, PLAYERS[1], PLAYERS[6], rating=1300)
    assert isinstance(due_command(found.state), CancelTournament)
    team(found, OTHER, OTHER, PLAYERS[3], rating=1600)
    found.do(THIRD, NameTeam(players=(THIRD, PLAYERS[5])))
    found.do(THIRD, JoinTeam(captain=THIRD, rating=2000))
    command = due_command(found.state)
    assert isinstance(command, StartTournament)
    found.do(SERVER_ACCOUNT, command)
    state = found.state
    assert [one.captain for one in state.teams] == [OTHER, ONE]
    assert [one.account for one in state.entrants] == [OTHER, PLAYERS[3], ONE, PLAYERS[1]]
    assert [one.account for one in state.volunteers] == [PLAYERS[6], THIRD]
    assert [(one.first, one.second) for _, one in state.pairings] == [(0, 2), (3, 1)]
    found.holds()


def test_in_three_double_rounds_each_meets_the_one_at_the_same_place_on_both_sides():
    found = begun(3, 4, cycles=2)
    pairs = [(one.first, one.second) for _, one in found.state.pairings]
    wanted = {
        (4 * a + place, 4 * b + place)
        for a in range(3)
        for b in range(3)
        if a != b
        for place in range(4)
    }
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == wanted


def test_a_reserve_of_the_same_team_alone_takes_over_a_place():
    found = begun(2)
    leaver, reserve, stranger = PLAYERS[1], PLAYERS[8], PLAYERS[9]
    for one in (reserve, stranger):
        found.do(one, VolunteerAsSubstitute(rating=1200))
    for actor, players in ((stranger, (stranger,)), (ONE, ())):
        assert found.refuses(actor, NameTeam(players=players))[0] == Code.NOT_ALLOWED
    found.do(ONE, NameTeam(players=(ONE, leaver, reserve)))
    given = {
        one: SubstituteInTournament(account=leaver, substitute=one, text=DIGEST)
        for one in (stranger, reserve)
    }
    code, said = found.refuses(ORGANISER, given[stranger])
    assert (code, "captain of the same team" in said) == (Code.AGAINST_TERMS, True)
    found.do(ORGANISER, given[reserve])
    assert [one.account for one in found.state.entrants] == [ONE, reserve, OTHER, PLAYERS[3]]
    found.holds()


def test_a_match_of_two_teams_in_which_one_player_left_goes_on_with_the_others():
    found = begun(2, 3)
    found.do(ORGANISER, WithdrawPlayer(account=PLAYERS[1], kind="silent", text=DIGEST))
    found.report("1/2", first=0)
    (match,) = team_matches(found.state, terms_of_three(**{**OF_TWO, "teams": TeamTerms(3)}))
    assert (match.points, match.left) == ((Fraction(1, 2), Fraction(3, 2)), 1)
    found.report("1-0", first=2)
    assert found.state.phase is Phase.FINISHED
    found.do(ORGANISER, ConfirmPlaces())
    (places,) = found.state.places
    assert places == tuple(
        FinalPlace(player, 1, points) for player, points in enumerate((50, 0, 100, 50, 100, 0))
    )


def plain_table(
    size: int, teams: int, results: list[tuple[int, int, str]]
) -> list[tuple[int, int, Fraction]]:
    """Return place, match points and points of each team, by its number, from the results of players."""
    worth = {"1-0": (2, 0), "0-1": (0, 2), "1/2": (1, 1), "+-": (2, 0), "--": (0, 0)}
    halves: dict[tuple[int, int], int] = {}
    for first, second, result in results:
        one, other = first // size, second // size
        for pair, made in zip(((one, other), (other, one)), worth[result], strict=True):
            halves[pair] = halves.get(pair, 0) + made
    rows = []
    for one in range(teams):
        others = [other for other in range(teams) if other != one]
        won = sum(halves[one, other] > halves[other, one] for other in others)
        even = sum(halves[one, other] == halves[other, one] for other in others)
        rows.append((2 * won + even, Fraction(sum(halves[one, other] for other in others), 2)))
    return [(1 + sum(other > row for other in rows), *row) for row in rows]


@pytest.mark.parametrize("seed", range(12))
def test_the_table_of_teams_is_that_of_a_plain_model(seed):
    chance = random.Random(seed)
    size, teams = chance.randint(2, 4), chance.randint(2, 5)
    found = begun(teams, size)
    pairings = dict(found.state.pairings)
    results = []
    for number in chance.sample(sorted(pairings), len(pairings)):
        result = chance.choice(("1-0", "0-1", "1/2", "+-", "--"))
        found.report(result, first=number)
        results.append((pairings[number].first, pairings[number].second, result))
    assert found.bodies[-1] == TournamentFinished()
    terms = found.state.terms
    assert terms is not None
    lines = {line.team: line for line in team_table(found.state, terms)}
    assert [
        (lines[one].place, lines[one].match_points, lines[one].points) for one in range(teams)
    ] == plain_table(size, teams, results)
    found.do(ORGANISER, ConfirmPlaces())
    found.holds()
