"""The state of a tournament after an event. It is total and validates nothing, because the events were decided."""

from typing import assert_never

from msgspec.structs import replace

from domain.records import AccountId
from domain.tournament import ladder_order
from domain.tournament.events import (
    DirectorsAppointed,
    Entered,
    EntryOpened,
    EntryTakenBack,
    GroupsPaired,
    InvitationTakenBack,
    LadderEnded,
    LeftAfterSeason,
    LotsDrawn,
    MatchesAdjudicated,
    PlacesConfirmed,
    PlacesListed,
    PlayersInvited,
    PlayersNumbered,
    PlayerSubstituted,
    PlayerWithdrawn,
    ResultsCounted,
    SectionPaired,
    SilentDropped,
    SubstituteVolunteered,
    TeamJoined,
    TeamNamed,
    ThematicDrafted,
    TournamentCancelled,
    TournamentDrafted,
    TournamentEvent,
    TournamentFinished,
    TournamentStarted,
)
from domain.tournament.state import (
    Adjudication,
    Entrant,
    PairedSection,
    Phase,
    TournamentState,
    WithdrawnPlayer,
)
from domain.tournament.substitutes import after_substitution, without_volunteer
from domain.tournament.teams import after_joining, after_naming, teams_that_play, without_player


def evolve(
    state: TournamentState, event: TournamentEvent, at: int, actor: AccountId
) -> TournamentState:
    """Return the state after `event`, received at `at` ms; `actor` is who caused it."""
    after = replace(_evolve(state, event, at, actor), seq=state.seq + 1, at=at)
    is_ladder = after.terms is not None and after.terms.ladder is not None
    return ladder_order.evolve(state, after, event) if is_ladder else after


def _without_invitation(state: TournamentState, account: AccountId) -> TournamentState:
    """Return the state in which an account is not invited."""
    return replace(state, invited=tuple(one for one in state.invited if one != account))


def _evolve(  # noqa: C901, PLR0911, PLR0912 - one case an event
    state: TournamentState, event: TournamentEvent, at: int, actor: AccountId
) -> TournamentState:
    match event:
        case TournamentDrafted():
            opening = event.opening if isinstance(event, ThematicDrafted) else ""
            return replace(state, terms=event.terms, organiser=actor, opening=opening)
        case EntryOpened():
            return replace(state, phase=Phase.ENTRY)
        case Entered() if (
            state.phase is not Phase.ENTRY and (known := state.number_of(event.account)) is not None
        ):
            return replace(state, leaving=tuple(one for one in state.leaving if one != known))
        case Entered():
            return replace(state, entrants=(*state.entrants, Entrant(event.account, event.rating)))
        case EntryTakenBack():
            rest = tuple(one for one in state.entrants if one.account != event.account)
            after = replace(without_volunteer(state, event.account), entrants=rest)
            after = after if actor == event.account else _without_invitation(after, event.account)
            return without_player(after, event.account)
        case InvitationTakenBack():
            return _without_invitation(state, event.account)
        case PlayersInvited():
            return replace(state, invited=(*state.invited, *event.accounts))
        case TeamNamed():
            return after_naming(state, actor, event.players)
        case TeamJoined():
            entrants = (*state.entrants, Entrant(actor, event.rating))
            return after_joining(replace(state, entrants=entrants), actor, event.captain)
        case LeftAfterSeason():
            return replace(state, leaving=(*state.leaving, event.player))
        case LotsDrawn():
            return replace(state, lots=event.order)
        case PlayersNumbered():
            return replace(state, numbered=(*state.numbered, *event.players))
        case TournamentStarted():
            players = (*state.numbered, *event.players)
            lot = {state.entrants[place].account: n for n, place in enumerate(state.lots)}
            lots = tuple(lot[one.account] for one in players) if lot else ()
            play = {one.account for one in players}
            waiting = tuple(one for one in state.entrants if one.account not in play)
            started = replace(state, phase=Phase.RUNNING, entrants=players, lots=lots, numbered=())
            return replace(started, volunteers=waiting, teams=teams_that_play(started))
        case SectionPaired():
            section = PairedSection(
                event.players, state.count, event.pairings, event.stage, event.byes, at
            )
            if isinstance(event, GroupsPaired):
                section = replace(section, thirds=event.thirds)
            return replace(state, sections=(*state.sections, section))
        case ResultsCounted():
            new = {one.pairing: one for one in event.reports}
            after = replace(state, reports=state.reports | new)
            # a ruling may set a match back after all were over
            return replace(after, phase=Phase.RUNNING) if after.left else after
        case PlayerWithdrawn():
            left = WithdrawnPlayer(event.player, event.kind, actor, event.text)
            unfinished = (*state.unfinished, *event.unfinished)
            return replace(state, withdrawn=(*state.withdrawn, left), unfinished=unfinished)
        case DirectorsAppointed():
            return replace(state, directors=event.accounts)
        case MatchesAdjudicated():
            made = {
                one.pairing: Adjudication(one.result, actor, event.text) for one in event.results
            }
            return replace(state, adjudicated=state.adjudicated | made)
        case SilentDropped() | LadderEnded():
            return state
        case SubstituteVolunteered():
            volunteer = Entrant(event.account, event.rating)
            return replace(state, volunteers=(*state.volunteers, volunteer))
        case PlayerSubstituted():
            return after_substitution(state, event, actor)
        case TournamentFinished():
            return replace(state, phase=Phase.FINISHED)
        case PlacesListed():
            return replace(state, places=(*state.places, *event.sections))
        case PlacesConfirmed():
            places = (*state.places, *event.sections)
            return replace(state, phase=Phase.CONFIRMED, places=places)
        case TournamentCancelled():
            return replace(state, phase=Phase.CANCELLED)
        case _:  # pragma: no cover - the union is closed
            assert_never(event)
