"""Invitations: accounts that may enter a tournament which is for invited players alone."""

from typing import Final

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.tournament.commands import InvitePlayers
from domain.tournament.events import PlayersInvited
from domain.tournament.sentences import SAY
from domain.tournament.state import TournamentState
from domain.tournament.terms import MOST_ENTRANTS, TournamentTerms

MOST_INVITED_AT_ONCE: Final = 100


def invite(
    command: InvitePlayers, state: TournamentState, terms: TournamentTerms
) -> PlayersInvited:
    """Invite those of some accounts that have neither been invited nor entered; the caller has checked the organiser."""
    if not terms.entry.invited:
        raise Refusal(Code.NOT_ALLOWED, SAY("no-invitations"))
    if len(command.accounts) > MOST_INVITED_AT_ONCE:
        raise Refusal(Code.TOO_MANY, SAY("invited-at-once", most=MOST_INVITED_AT_ONCE))
    here = {*state.invited, *(one.account for one in state.entrants), state.organiser}
    new = tuple(one for one in dict.fromkeys(command.accounts) if one not in here)
    if not new:
        raise Refusal(Code.ALREADY_ENTERED, SAY("invited"))
    if len(state.invited) + len(new) > MOST_ENTRANTS:
        raise Refusal(Code.TOO_MANY, SAY("most-invited", most=MOST_ENTRANTS))
    return PlayersInvited(accounts=new)


def check_invited(actor: AccountId, state: TournamentState, terms: TournamentTerms) -> None:
    """Refuse the entry of an account that needs an invitation and has none; the organiser needs none."""
    if terms.entry.invited and actor != state.organiser and actor not in state.invited:
        raise Refusal(Code.AGAINST_TERMS, SAY("not-invited"))
