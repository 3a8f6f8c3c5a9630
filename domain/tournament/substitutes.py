"""Substitutes: volunteers who take over the places of players who leave.

The number of the player stays, with all its results; from then on it is another account's. The manager then has the
matches of the number taken over as they stand.
"""

from typing import Final

from msgspec.structs import asdict, replace

from domain.errors import Code, Refusal
from domain.records import AccountId
from domain.tournament.commands import SubstituteInTournament, VolunteerAsSubstitute
from domain.tournament.events import (
    PlayerSubstituted,
    SubstitutedInThrees,
    SubstituteVolunteered,
)
from domain.tournament.sentences import SAY
from domain.tournament.state import Entrant, SubstitutedPlayer, TournamentState, number_in
from domain.tournament.teams import may_play_for
from domain.tournament.terms import TournamentForm

_DIGEST_BYTES: Final = 32


def volunteer(
    command: VolunteerAsSubstitute, actor: AccountId, state: TournamentState
) -> SubstituteVolunteered:
    """Note that somebody who does not play agrees to take over a place, in a tournament that runs."""
    if state.ladder is not None:
        raise Refusal(Code.NOT_ALLOWED, SAY("no-substitutes"))
    if state.number_of(actor) is not None:
        raise Refusal(Code.ALREADY_ENTERED, SAY("entered"))
    if is_volunteer(state, actor):
        raise Refusal(Code.ALREADY_ENTERED, SAY("volunteered"))
    return SubstituteVolunteered(account=actor, rating=command.rating)


def substitute(
    command: SubstituteInTournament, actor: AccountId, state: TournamentState
) -> PlayerSubstituted:
    """Let a volunteer take over a player's place, in a tournament that runs.

    Nobody does it in a section in which they play, or would play by it.
    """
    if len(command.text) != _DIGEST_BYTES:
        raise Refusal(Code.BAD_REQUEST, SAY("substitution"))
    player, director = state.number_of(command.account), state.number_of(actor)
    if player is None:
        raise Refusal(Code.NOT_ENTERED, SAY("not-entered"))
    if any(one.player == player for one in state.withdrawn):
        raise Refusal(Code.TOO_LATE, SAY("withdrawn"))
    both_play = any({player, director} <= set(section.players) for section in state.sections)
    if both_play or actor == command.substitute:
        raise Refusal(Code.AGAINST_TERMS, SAY("own-section"))
    number = number_in(state.volunteers, command.substitute)
    if number is None:
        raise Refusal(Code.AGAINST_TERMS, SAY("no-volunteer"))
    if not may_play_for(state, command.substitute, player):
        raise Refusal(Code.AGAINST_TERMS, SAY("other-team"))
    going = [(n, one) for n, one in state.seated if player in one and n not in state.unfinished]
    seats = [tuple(n for n, one in going if one.index(player) == seat) for seat in range(3)]
    done = PlayerSubstituted(
        player=player,
        account=command.substitute,
        left=command.account,
        rating=state.volunteers[number].rating,
        first=seats[0],
        second=seats[1],
        text=command.text,
    )
    assert state.terms is not None
    if state.terms.form == TournamentForm.THREES:
        return SubstitutedInThrees(**asdict(done), third=seats[2])
    return done


def is_volunteer(state: TournamentState, account: AccountId) -> bool:
    """Return whether an account agrees to take over a place."""
    return number_in(state.volunteers, account) is not None


def without_volunteer(state: TournamentState, account: AccountId) -> TournamentState:
    """Return the state in which an account does not agree any longer, or need not, because it plays."""
    rest = tuple(one for one in state.volunteers if one.account != account)
    return replace(state, volunteers=rest)


def after_substitution(
    state: TournamentState, event: PlayerSubstituted, actor: AccountId
) -> TournamentState:
    """Return the state in which a substitute has a player's number."""
    entrants = list(state.entrants)
    entrants[event.player] = Entrant(event.account, event.rating)
    left = SubstitutedPlayer(event.player, event.left, event.account, actor, event.text)
    return replace(
        without_volunteer(state, event.account),
        entrants=tuple(entrants),
        substituted=(*state.substituted, left),
    )
