"""Teams: their captains name the players, who then enter by themselves."""

from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.tournament.commands import JoinTeam
from domain.tournament.events import EntryTakenBack, TeamJoined, TeamNamed
from domain.tournament.sentences import SAY
from domain.tournament.state import Phase, Team, TournamentState
from domain.tournament.terms import MOST_RESERVES, MOST_TEAMS, TournamentTerms

Events = tuple[TeamNamed | EntryTakenBack, ...]


def naming(
    players: tuple[AccountId, ...],
    actor: AccountId,
    state: TournamentState,
    terms: TournamentTerms,
) -> Events:
    """Choose the players of the actor's team. Those who have entered and are no longer named are out again.

    Once it has started, those who play go on, and only a captain whose team plays names others as reserves.
    """
    if terms.teams is None:
        raise Refusal(Code.NOT_ALLOWED, SAY("no-teams"))
    most = terms.teams.size + MOST_RESERVES
    if len(players) > most or len(set(players)) < len(players):
        raise Refusal(Code.TOO_MANY, SAY("team-players", most=most))
    team = team_of(state, actor)
    named = TeamNamed(players=players)
    if state.phase is Phase.RUNNING:
        if team is None or not players:
            raise Refusal(Code.NOT_ALLOWED, SAY("no-captain"))
        return (named,)
    if team is None and not players:
        raise Refusal(Code.AGAINST_TERMS, SAY("no-team"))
    if team is None and len(state.teams) >= MOST_TEAMS:
        raise Refusal(Code.TOO_MANY, SAY("most-teams", most=MOST_TEAMS))
    joined = team.joined if team else ()
    out = (EntryTakenBack(account=one) for one in joined if one not in players)
    return (named, *out)


def joining(command: JoinTeam, actor: AccountId, state: TournamentState) -> TeamJoined:
    """Enter in a team that names the actor, before the start."""
    if state.number_of(actor) is not None:
        raise Refusal(Code.ALREADY_ENTERED, SAY("entered"))
    team = team_of(state, command.captain)
    if team is None:
        raise Refusal(Code.AGAINST_TERMS, SAY("no-team"))
    if actor not in team.named:
        raise Refusal(Code.AGAINST_TERMS, SAY("not-named"))
    return TeamJoined(captain=command.captain, rating=command.rating)


def team_of(state: TournamentState, captain: AccountId) -> Team | None:
    """Return the team of a captain; None without one."""
    return next((one for one in state.teams if one.captain == captain), None)


def may_play_for(state: TournamentState, account: AccountId, player: int) -> bool:
    """Return whether somebody may take over a player's number: without teams anybody, otherwise who is named for the team."""
    return not state.teams or account in state.teams[team_number(state, player)].named


def team_number(state: TournamentState, player: int) -> int:
    """Return the number of a player's team, from 0, in a tournament of teams that has started."""
    assert state.terms is not None
    assert state.terms.teams is not None
    return player // state.terms.teams.size


# the state after the events


def after_naming(
    state: TournamentState, captain: AccountId, players: tuple[AccountId, ...]
) -> TournamentState:
    """Return the state in which a captain has named these players; those who play go on."""
    teams = [replace(one, named=players) if one.captain == captain else one for one in state.teams]
    if team_of(state, captain) is None:
        teams.append(Team(captain, players))
    return replace(state, teams=tuple(one for one in teams if one.named))


def after_joining(
    state: TournamentState, account: AccountId, captain: AccountId
) -> TournamentState:
    """Return the state in which somebody has entered in the team of a captain."""
    teams = (
        replace(one, joined=(*one.joined, account)) if one.captain == captain else one
        for one in state.teams
    )
    return replace(state, teams=tuple(teams))


def without_player(state: TournamentState, account: AccountId) -> TournamentState:
    """Return the state in which somebody has entered in no team any more."""
    teams = (
        replace(one, joined=tuple(other for other in one.joined if other != account))
        for one in state.teams
    )
    return replace(state, teams=tuple(teams))


def teams_that_play(state: TournamentState) -> tuple[Team, ...]:
    """Return the teams of a tournament that has just started, in the order of their players' numbers."""
    if state.terms is None or state.terms.teams is None:
        return ()
    firsts = [one.account for one in state.entrants[:: state.terms.teams.size]]
    return tuple(team for first in firsts for team in state.teams if first in team.joined)
