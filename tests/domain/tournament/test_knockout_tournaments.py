"""Knockouts and further stages as whole tournaments: what is paired after what, and the places, beside a plain model."""

import random
from typing import Any

import pytest
from msgspec.structs import replace

from domain.aggregates import verify
from domain.errors import Code
from domain.match.history import BrokenHistory, decode_event
from domain.records import SERVER_ACCOUNT
from domain.tournament import commands, events
from domain.tournament.bracket import Knockout, rounds_of
from domain.tournament.decide import due_command, next_due
from domain.tournament.form_terms import KnockoutTerms, StageTerms
from domain.tournament.state import AdjudicatedPairing, Pairing, Phase
from domain.tournament.table import PossiblePlaces
from tests.domain.tournament.plain_model import plain_knockout, plain_qualifiers
from tests.helpers.given import BEGIN
from tests.helpers.tournaments import NUMBER, ORGANISER, PLAYERS, Tournament

DAY = 86_400_000
DIGEST = bytes(32)
KNOCKOUT: dict[str, Any] = {
    "form": "knockout",
    "section": 0,
    "capacity": 0,
    "when_full": False,
    "knockout": KnockoutTerms(),
}


def begun(players: int, **changes: Any) -> Tournament:
    """A tournament that runs. Player 0 is the one with the highest rating."""
    found = Tournament()
    found.draft(**{**KNOCKOUT, **changes})
    found.enter(players)
    found.do(ORGANISER, commands.StartTournament())
    return found


def play_out(found: Tournament, chance: random.Random, results: tuple[str, ...]) -> None:
    """Report results by chance, in any order, until all is over."""
    while found.state.phase is Phase.RUNNING:
        some = [number for number, _ in found.state.pairings if found.state.is_open(number)]
        found.report(chance.choice(results), first=chance.choice(some))


def withdraw(found: Tournament, player: int, kind: str = "silent") -> None:
    account = found.state.entrants[player].account
    found.do(ORGANISER, commands.WithdrawPlayer(account=account, kind=kind, text=DIGEST))


@pytest.mark.parametrize("seed", range(20))
def test_places_are_those_of_a_plain_model_and_the_history_holds(seed: int) -> None:
    chance = random.Random(seed)
    players = chance.randint(2, 20)
    found = begun(players, cycles=chance.randint(1, 2))
    play_out(found, chance, ("1-0", "0-1"))
    found.do(ORGANISER, commands.ConfirmPlaces())
    winners = {
        frozenset(player for player in one.tie if player is not None): one.winner
        for ties in rounds_of(found.state, terms_of(found))
        for one in ties
    }
    groups = plain_knockout(players, lambda *pair: winners[frozenset(pair)])
    ((*places,),) = found.state.places
    model, place = {}, 1
    for group in groups:
        model |= dict.fromkeys(group, place)
        place += len(group)
    assert {one.player: one.place for one in places} == model
    found.holds()


def terms_of(found: Tournament) -> Any:
    assert found.state.terms is not None
    return found.state.terms


def test_those_who_lose_the_semifinals_play_for_third_place() -> None:
    found = begun(4, knockout=KnockoutTerms(third_place=True))
    *_, final = found.report("0-1", "1-0")
    assert isinstance(final, events.SectionPaired)
    assert [(one.first, one.second) for one in final.pairings] == [(1, 3), (0, 2)]
    found.report("1-0", first=3)
    terms = terms_of(found)
    (section,) = Knockout().tables(found.state)
    lines = Knockout().table(section, found.state, terms).lines
    assert {line.player: line.possible for line in lines} == {
        0: PossiblePlaces(3, 3),
        1: PossiblePlaces(1, 2),
        2: PossiblePlaces(4, 4),
        3: PossiblePlaces(1, 2),
    }
    found.report("0-1", first=2)
    found.do(ORGANISER, commands.ConfirmPlaces())
    assert [(one.player, one.place) for one in found.state.places[0]] == [
        (3, 1),
        (1, 2),
        (0, 3),
        (2, 4),
    ]


def test_any_history_of_draws_and_leavers_ends_with_one_winner() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        players = chance.randint(2, 12)
        found = begun(
            players,
            cycles=chance.randint(1, 2),
            knockout=KnockoutTerms(chance.randint(0, 1), chance.random() < 0.5),
        )
        while found.state.phase is Phase.RUNNING:
            here = [one for one in range(players) if not found.state.has_withdrawn(one)]
            if chance.random() < 0.1:
                withdraw(found, chance.choice(here), chance.choice(("silent", "accepted")))
                continue
            some = [number for number, _ in found.state.pairings if found.state.is_open(number)]
            found.report(chance.choice(("1-0", "0-1", "1/2", "--")), first=chance.choice(some))
        found.do(ORGANISER, commands.ConfirmPlaces())
        places = [one.place for one in found.state.places[0]]
        assert len(places) == players
        assert places.count(1) == 1
        assert places == sorted(places)
        found.holds()


def test_recorded_rounds_that_break_the_rules_are_found() -> None:
    found = begun(4)
    found.report("1-0", "1-0")
    final = decode_event(found.events[-1]).body
    assert isinstance(final, events.SectionPaired)
    forged = replace(final, players=(0, 2), pairings=(Pairing(2, 0, 2),))
    with pytest.raises(BrokenHistory, match="break the rules of the tournament"):
        verify(NUMBER, found.forged(len(found.events), body=forged))


# further stages


def staged(players: int, *stages: StageTerms) -> Tournament:
    return begun(players, form="round-robin", section=4, knockout=None, stages=stages)


def test_the_best_of_each_section_and_the_next_best_go_on() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        stage = StageTerms(chance.randint(1, 2), chance.randint(3, 8), chance.randint(3, 5))
        found = staged(chance.randint(6, 16), stage)
        while found.state.stage == 1 and found.state.phase is Phase.RUNNING:
            some = [number for number, _ in found.state.pairings if found.state.is_open(number)]
            found.report(chance.choice(("1-0", "0-1", "1/2")), first=chance.choice(some))
        tables = [
            [
                {
                    "player": row.player,
                    "place": row.place,
                    "points": float(row.points),
                    "counted": len(section.players) - 1,
                    "tiebreaks": [float(value) for value in row.tiebreaks],
                }
                for row in found.rows(section)
            ]
            for section in found.state.sections
            if section.stage == 1
        ]
        right, rest = plain_qualifiers(tables, stage.first, stage.total)
        second = [one for one in found.state.sections if one.stage == 2]
        if len(right + rest) < 3:
            assert not second
            continue
        assert sorted(player for one in second for player in one.players) == sorted(right + rest)
        play_out(found, chance, ("1-0", "0-1"))
        found.do(ORGANISER, commands.ConfirmPlaces())
        assert len(found.state.places) == len(found.state.sections)
        found.holds()


def test_who_has_left_does_not_go_on() -> None:
    found = staged(8, StageTerms(2, 4, 4))
    withdraw(found, 0)
    for number, one in list(found.state.pairings):
        if found.state.is_open(number):
            found.report("1-0" if one.first < one.second else "0-1", first=number)
    (last,) = [one for one in found.state.sections if one.stage == 2]
    assert 0 not in last.players
    assert len(last.players) == 4


# directors, adjudications and the end of a round


def test_a_director_rules_and_confirms_and_a_stranger_does_not() -> None:
    found = begun(2)
    code, _ = found.refuses(PLAYERS[4], commands.AppointDirectors(accounts=(PLAYERS[5],)))
    assert code is Code.NOT_AN_ORGANISER
    found.do(ORGANISER, commands.AppointDirectors(accounts=(PLAYERS[5],)))
    adjudicated = AdjudicatedPairing(0, "1-0")
    made, over = found.do(
        PLAYERS[5], commands.AdjudicateMatches(results=(adjudicated,), text=DIGEST)
    )
    assert isinstance(made, events.MatchesAdjudicated)
    assert isinstance(over, events.TournamentFinished)
    assert found.refuses(PLAYERS[4], commands.ConfirmPlaces())[0] is Code.NOT_AN_ORGANISER
    found.do(PLAYERS[5], commands.ConfirmPlaces())
    found.holds()


def test_adjudications_that_cannot_be_are_refused() -> None:
    found = begun(4)
    found.report("1-0")
    refusals = {
        (AdjudicatedPairing(0, "1-0"),): Code.TOO_LATE,
        (AdjudicatedPairing(9, "1-0"),): Code.UNKNOWN_PAIRING,
        (AdjudicatedPairing(1, "2-0"),): Code.BAD_REQUEST,
        (): Code.BAD_REQUEST,
    }
    for results, code in refusals.items():
        command = commands.AdjudicateMatches(results=results, text=DIGEST)
        assert found.refuses(ORGANISER, command)[0] is code
    own = commands.AdjudicateMatches(results=(AdjudicatedPairing(1, "1-0"),), text=DIGEST)
    player = found.state.entrants[1].account
    assert found.refuses(player, own)[0] is Code.AGAINST_TERMS
    short = commands.AdjudicateMatches(results=(AdjudicatedPairing(1, "1-0"),), text=b"")
    assert found.refuses(ORGANISER, short)[0] is Code.BAD_REQUEST


def test_a_result_that_the_match_has_all_the_same_comes_before_the_adjudication() -> None:
    found = begun(4)
    given = AdjudicatedPairing(0, "1-0")
    found.do(ORGANISER, commands.AdjudicateMatches(results=(given,), text=DIGEST))
    assert found.state.result_of(0) == "1-0"
    found.report("0-1", first=0)
    assert found.state.result_of(0) == "0-1"
    # a ruling sets the match back: it goes on, whatever was adjudicated
    found.report("", first=0, seq=20)
    assert found.state.is_open(0)


def test_at_the_end_of_a_round_what_is_not_over_is_drawn() -> None:
    found = begun(4, days=10)
    started = BEGIN + 1000 * 7
    assert next_due(found.state) == started + 10 * DAY
    found.report("0-1")
    command = due_command(found.state)
    assert command == commands.EndRound(stage=1)
    made, final = found.do(SERVER_ACCOUNT, command)
    assert isinstance(made, events.MatchesAdjudicated)
    assert made.results == (AdjudicatedPairing(1, "1/2"),)
    assert isinstance(final, events.SectionPaired)
    assert final.players == (1, 3)
    assert found.refuses(SERVER_ACCOUNT, commands.EndRound(stage=1))[0] is Code.TOO_LATE
    assert found.refuses(ORGANISER, commands.EndRound(stage=2))[0] is Code.NOT_ALLOWED
    found.holds()
