"""Who takes part: only the invited, where it is so; and lots, drawn at the start by a seed that was fixed before."""

import pytest
from msgspec.structs import replace

from domain.aggregates import verify
from domain.errors import Code
from domain.fairness import SetupDraw
from domain.match.decision import Decision
from domain.match.history import BrokenHistory
from domain.tournament import commands
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.events import LotsDrawn, TournamentStarted
from domain.tournament.form_terms import SwissTerms, TeamTerms
from domain.tournament.invitations import MOST_INVITED_AT_ONCE
from domain.tournament.terms import SWISS_TIEBREAKS, USUAL_TIEBREAKS
from tests.helpers.tournaments import NUMBER, ORGANISER, PLAYERS, SEED, Tournament

ANNA, BEN, CARL = PLAYERS[:3]
ENTER = commands.EnterTournament(rating=1500)


def test_only_the_invited_and_the_organiser_enter() -> None:
    held = Tournament()
    held.draft(entry=EntryTerms(invited=True))
    assert held.refuses(ANNA, commands.InvitePlayers(accounts=(BEN,)))[0] == Code.NOT_AN_ORGANISER
    assert held.refuses(ANNA, ENTER)[0] == Code.AGAINST_TERMS
    held.do(
        ORGANISER,
        commands.InvitePlayers(accounts=(ANNA, BEN, BEN)),
        commands.InvitePlayers(accounts=(BEN, CARL)),
    )
    assert held.state.invited == (ANNA, BEN, CARL)
    assert (
        held.refuses(ORGANISER, commands.InvitePlayers(accounts=(ANNA,)))[0] == Code.ALREADY_ENTERED
    )
    held.do(ANNA, ENTER, commands.LeaveTournament(), ENTER)
    held.do(BEN, ENTER)
    for one in (BEN, CARL):  # one has entered, the other not
        held.do(ORGANISER, commands.LeaveTournament(account=one))
        assert held.refuses(one, ENTER)[0] == Code.AGAINST_TERMS
    held.do(ORGANISER, ENTER)
    assert [one.account for one in held.state.entrants] == [ANNA, ORGANISER]
    many = tuple(b"%08d" % number for number in range(MOST_INVITED_AT_ONCE + 1))
    assert held.refuses(ORGANISER, commands.InvitePlayers(accounts=many))[0] == Code.TOO_MANY
    held.holds()


def test_a_player_of_a_team_needs_an_invitation_too() -> None:
    held = Tournament()
    rules = {"form": "teams", "section": 0, "capacity": 0, "when_full": False, "tiebreaks": ()}
    held.draft(**rules, teams=TeamTerms(2), entry=EntryTerms(invited=True))
    held.do(ANNA, commands.NameTeam(players=(ANNA, BEN)))
    held.do(ORGANISER, commands.InvitePlayers(accounts=(ANNA,)))
    held.do(ANNA, commands.JoinTeam(captain=ANNA, rating=1500))
    assert held.refuses(BEN, commands.JoinTeam(captain=ANNA, rating=1500))[0] == Code.AGAINST_TERMS
    held.holds()


def test_other_tournaments_have_no_invitations() -> None:
    held = Tournament()
    held.draft()
    assert held.refuses(ORGANISER, commands.InvitePlayers(accounts=(ANNA,)))[0] == Code.NOT_ALLOWED


# --- lots


def started(count: int = 7, **terms: object) -> Tournament:
    """A tournament with lots that its organiser has started, after one entry was taken back."""
    held = Tournament()
    held.draft(section=4, capacity=0, when_full=False, **terms)
    held.enter(count)
    held.do(PLAYERS[0], commands.LeaveTournament(), commands.EnterTournament(rating=1500))
    held.do(ORGANISER, commands.StartTournament())
    return held


def drawn(held: Tournament) -> tuple[int, LotsDrawn]:
    return next((n, one) for n, one in enumerate(held.bodies, 1) if isinstance(one, LotsDrawn))


def test_players_are_numbered_by_lot_and_the_seed_is_used() -> None:
    held = started(seed_by_lot=True)
    _, lots = drawn(held)
    assert sorted(lots.order) == list(range(7))
    assert (lots.draw.chain, lots.draw.k, lots.draw.seed) == (SEED.chain, SEED.k, SEED.seed)
    entered = [*PLAYERS[1:7], PLAYERS[0]]
    assert [one.account for one in held.state.entrants] == [entered[place] for place in lots.order]
    assert held.state.lots == tuple(range(7))
    assert Decision((lots,)).seed == (SEED.chain, SEED.k)
    held.holds()


def test_a_tournament_that_is_full_draws_its_lots_with_the_last_entry() -> None:
    held = Tournament()
    held.draft(seed_by_lot=True)
    held.enter(3)
    kinds = [type(one).__name__ for one in held.bodies[-4:]]
    assert kinds == ["Entered", "LotsDrawn", "TournamentStarted", "SectionPaired"]
    held.holds()


def test_lots_that_are_not_those_of_the_seed_are_found() -> None:
    held = started(seed_by_lot=True)
    seq, lots = drawn(held)
    other = replace(lots, order=(lots.order[1], lots.order[0], *lots.order[2:]))
    seed = replace(lots, draw=SetupDraw(1, 2, bytes(32), lots.draw.texts))
    for body in (other, seed):
        with pytest.raises(BrokenHistory):
            verify(NUMBER, held.forged(seq, body=body))
    without = [held.events[n] for n in range(len(held.events)) if n + 1 != seq]
    with pytest.raises(BrokenHistory):
        verify(NUMBER, without)


@pytest.mark.parametrize("form", ["round-robin", "swiss"])
def test_equal_players_are_placed_by_lot(form: str) -> None:
    more = {"form": form, "section": 0, "swiss": SwissTerms(2)} if form == "swiss" else {}
    breaks = SWISS_TIEBREAKS if more else USUAL_TIEBREAKS
    held = Tournament()
    held.draft(**{"capacity": 0, "when_full": False, **more, "tiebreaks": (*breaks, "lot")})
    held.enter(3)
    held.do(ORGANISER, commands.StartTournament())
    _, lots = drawn(held)
    (before,) = [one for one in held.bodies if isinstance(one, TournamentStarted)]
    assert [one.rating for one in before.players] == [1502, 1501, 1500]
    assert held.state.lots == tuple(lots.order.index(place) for place in (2, 1, 0))
    if form == "round-robin":
        held.report("1/2", "1/2", "1/2")
        held.do(ORGANISER, commands.ConfirmPlaces())
        (places,) = held.state.places
        assert [one.place for one in places] == [1, 2, 3]
        assert [held.state.lots[one.player] for one in places] == [0, 1, 2]
        assert [int(row.tiebreaks[-1]) for row in held.rows(held.state.sections[0])] == [3, 2, 1]
    held.holds()
