"""Tournaments that are not for all: the invitations of their organisers, and the codes for entering them."""

from collections.abc import Sequence

from domain.errors import Code, Refusal
from domain.match.state import is_bot, robot_level
from domain.records import AccountId
from domain.tournament.commands import InvitePlayers
from domain.tournament.state import TournamentState
from services.app.contact import check_challenge
from services.app.context import Actor, App
from services.app.play import Steps, course
from services.app.receipts import Answered
from services.app.sanctions import check_may_start
from services.app.sentences import SAY
from services.app.tournaments import TournamentView, ask, visible_state


@course
def invite(app: App, actor: Actor, number: int, userids: Sequence[str]) -> Steps[Answered]:
    """Invite players to a tournament that is for invited players alone, as its organiser; each gets a notice.

    `leave` with a userid takes an invitation back. `not-wanted` as for a challenge by name, `not-allowed` in other
    tournaments, `already-entered` if all of them are invited, `too-many`, `unknown-user`, `sanctioned`.
    """
    check_may_start(app, actor.account)
    players = tuple(dict.fromkeys(app.accounts.id_of(one) for one in userids))
    if any(robot_level(one) is not None for one in players):
        raise Refusal(Code.AGAINST_TERMS, SAY("robots-uninvited"))
    if any(map(is_bot, players)):
        raise Refusal(Code.AGAINST_TERMS, SAY("bot-tournaments"))
    check_challenge(app, actor.account, players)
    return (yield from ask(app, actor, number, InvitePlayers(accounts=players)))


def waiting_invitations(view: TournamentView) -> list[AccountId]:
    """Return those who are invited and have not entered, for the organiser; nobody for others."""
    invited = view.state.invited if view.organises else ()
    return [one for one in invited if view.state.number_of(one) is None]


def make_code(app: App, account: AccountId, number: int) -> str:
    """Return a new code for entering a tournament, as its organiser; it is shown only here, and ends an earlier one.

    `not-an-organiser`, `not-allowed` in a tournament without a code, `too-late` once it is over.
    """
    app.ready()
    state = visible_state(app, account, number)
    if state.organiser != account:
        raise Refusal(Code.NOT_AN_ORGANISER, SAY("tournament-organiser"))
    if state.terms is None or not state.terms.by_code:
        raise Refusal(Code.NOT_ALLOWED, SAY("no-code"))
    if state.over:
        raise Refusal(Code.TOO_LATE, SAY("code-too-late"))
    return app.tournament_codes.make(number)


def may_enter(state: TournamentState, account: AccountId) -> bool:
    """Return whether an account needs no invitation, or has one."""
    assert state.terms is not None
    return not state.terms.entry.invited or account in (state.organiser, *state.invited)
