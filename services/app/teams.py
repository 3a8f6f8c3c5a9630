"""Teams of a tournament: a captain names the players, who enter by themselves, and the table of teams."""

from collections.abc import Sequence

import msgspec

from domain.records import AccountId
from domain.tournament.commands import NameTeam
from domain.tournament.team_form import TeamLine, TeamMatch, team_matches, team_table
from services.app.context import Actor, App
from services.app.play import Steps, course
from services.app.receipts import Answered
from services.app.sanctions import check_may_start
from services.app.tournaments import TournamentView, ask


class TeamRow(msgspec.Struct, frozen=True):
    """A team as anybody may see it."""

    captain: AccountId
    players: tuple[AccountId, ...]
    """In the order in which they play: before the start all whom the captain has named, afterwards those who play."""
    reserves: tuple[AccountId, ...]
    """Those named beyond the ones who play; none before the start."""
    entered: frozenset[AccountId]
    """Those of all these who have entered."""
    line: TeamLine | None
    """Its row of the table; None before the start."""


@course
def name_team(app: App, actor: Actor, number: int, userids: Sequence[str]) -> Steps[Answered]:
    """Choose the players of the actor's team, in the order in which they play, in place of those before; none dissolve it.

    Each then enters in it by their own command. Once it has started only the reserves change. `not-allowed` in a
    tournament without teams, and after the start for all but captains; `too-many`, `unknown-user`, `sanctioned`.
    """
    check_may_start(app, actor.account)
    players = tuple(app.accounts.id_of(one) for one in userids)
    return (yield from ask(app, actor, number, NameTeam(players=players)))


def teams_of(view: TournamentView) -> list[TeamRow]:
    """Return the teams of a tournament, by place once it has started; none in another form."""
    state, terms = view.state, view.terms
    assert terms.teams is not None
    if not state.sections:
        return [
            TeamRow(one.captain, one.named, (), frozenset(one.joined), None) for one in state.teams
        ]
    rows, size, ready = [], terms.teams.size, {one.account for one in state.volunteers}
    for line in team_table(state, terms):
        team, first = state.teams[line.team], line.team * size
        players = tuple(one.account for one in state.entrants[first : first + size])
        reserves = tuple(one for one in team.named if one not in players)
        entered = frozenset((*players, *(one for one in reserves if one in ready)))
        rows.append(TeamRow(team.captain, players, reserves, entered, line))
    return rows


def matches_of_teams(view: TournamentView) -> list[TeamMatch]:
    """Return the matches of all teams in the order of their rounds."""
    return team_matches(view.state, view.terms)
