"""Tournaments that only invited players enter."""

from domain.errors import Code
from domain.tournament import commands
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.form_terms import TeamTerms
from domain.tournament.invitations import MOST_INVITED_AT_ONCE
from tests.helpers.tournaments import ORGANISER, PLAYERS, Tournament

ANNA, BEN, CARL, DORA = PLAYERS[:4]
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
