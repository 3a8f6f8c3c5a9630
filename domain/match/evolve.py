"""The state of a match after an event.

`evolve` is total and validates nothing, because the events were decided. It needs no rules either, so folding a
history is fast.
"""

from collections.abc import Iterable
from typing import Any, TypeVar, assert_never

import msgspec
from msgspec.structs import replace

from domain.clocks import match_clock as clocks
from domain.clocks.match_clock import MatchClock
from domain.match.events import (
    Absent,
    Accepted,
    Appealed,
    Called,
    Challenged,
    Claimed,
    Committed,
    DealProposed,
    Declined,
    Ended,
    Event,
    Flagged,
    Gathered,
    Imported,
    MatchPaired,
    MatchProposed,
    MatchStarted,
    Moved,
    Nagged,
    OfferAnswered,
    OfferMade,
    OpeningGiven,
    Paused,
    Resigned,
    ResultChanged,
    Resumed,
    Returned,
    Revealed,
    Ruled,
    Sealed,
    SeatTakenOver,
    SetBack,
    TimeGiven,
    Undone,
    Withheld,
)
from domain.match.state import (
    Case,
    Cases,
    CommitState,
    CurrentOffer,
    ImportedMatch,
    Invitation,
    LeftSeat,
    MatchState,
    initial,
)
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import Seat
from domain.tournament.events import TournamentEventBody


def evolve(
    state: MatchState,
    event: Event,
    at: int,
    position: bytes | None = None,
    actor: AccountId = SERVER_ACCOUNT,
) -> MatchState:
    """Return the state after `event`, received at `at` ms; `actor` is who caused it.

    `position` is the packed position after the event, if the caller has it.
    """
    after = _evolve(state, event, position)
    clock = evolve_clock(state.clock, event, at, state.next)
    # most events are moves in matches that nobody is invited to any longer
    if state.invitation is None and isinstance(event, Moved):
        return replace(after, seq=state.seq + 1, at=at, clock=clock)
    if state.invitation is not None or isinstance(event, MatchProposed | DealProposed):
        after = replace(after, invitation=evolve_invitation(state.invitation, event, at))
        if state.invited and not after.invited and clock is not None:
            clock = clocks.after_resume(clock, at)
    if isinstance(event, Claimed | Ruled | Appealed):
        seq, ply = state.seq + 1, state.ply
        cases = evolve_cases(state.cases, event, seq=seq, ply=ply, at=at, actor=actor)
        after = replace(after, cases=cases)
    return replace(after, seq=state.seq + 1, at=at, clock=clock)


def _evolve(  # noqa: C901, PLR0911, PLR0912 - one case an event
    state: MatchState, event: Event, position: bytes | None
) -> MatchState:
    match event:
        case Moved():
            offer = (
                state.offer if state.offer and state.offer.survives_move_of(event.seat) else None
            )
            return replace(
                state,
                ply=event.ply,
                moves=f"{state.moves} {event.move}" if state.ply else event.move,
                next=event.next,
                acted=state.acted | 1 << event.seat,
                offer=offer,
                position=position,
            )
        case OpeningGiven(moves=moves):
            given = len(moves.split())
            return replace(state, ply=given, moves=moves, opening=given, position=position)
        case MatchStarted() | Challenged():
            return _after_start_or_proposal(state, event, position)
        case Gathered() | Revealed():
            return replace(state, texts=replace_at(state.texts, event.seat, event.text))
        case Committed() | Sealed():
            return replace(state, gather=evolve_commitments(state.gather, event))
        case OfferMade():
            return replace(state, offer=CurrentOffer(event.kind, event.seat))
        case OfferAnswered():
            return replace(state, offer=_offer_after(state, event))
        case Undone():
            return _after_undo(state, event, position)
        case Resigned() | Flagged():
            out = (*state.out, (event.seat, state.ply))
            rest = len(state.active_seats) - 1
            # with two or more left the position changed, even if the match is over for them, too
            packed = position if rest > 1 else state.position
            # no offer stays open, because the players it concerns have changed
            return replace(state, out=out, next=event.next, position=packed, offer=None)
        case SetBack():
            stayed = replace(state, out=tuple(x for x in state.out if x[0] not in event.back))
            return replace(_after_undo(stayed, event, position), result=None)
        case ResultChanged():
            ended = Ended(winners=event.winners, reason=event.reason)
            return replace(state, result=ended, next=None, offer=None)
        case SeatTakenOver():
            return _after_takeover(state, event)
        case Accepted() | Declined() | Withheld():
            return state  # `evolve` has the invitation
        case Nagged() | Paused() | Resumed() | Absent() | Returned():
            return state
        case Claimed() | Ruled() | Appealed() | TimeGiven():
            return state  # `evolve` has the cases, and the clock has the time
        case Ended():
            return replace(state, result=event, next=None, offer=None)
        case TournamentEventBody():
            raise TypeError("an event of a tournament changes no match")
        case _:  # pragma: no cover - the union is closed
            assert_never(event)


def _after_start_or_proposal(
    state: MatchState, event: MatchStarted | Challenged, position: bytes | None
) -> MatchState:
    """Return the state after a start, or after a proposal that waits for entropy."""
    state = replace(state, rules=event.rules, options=event.options, seats=event.seats)
    missing = (None,) * len(event.seats)
    match event:
        case MatchStarted(setup=setup, next=mover):
            begun = replace(state, setup=setup, next=mover, texts=(), position=position)
            pairing = (event.tournament, event.pairing) if isinstance(event, MatchPaired) else None
            return replace(begun, gather=None, offer=None, pairing=pairing)
        case Called():
            return replace(state, texts=missing, gather=CommitState(event.commitments))
        case Imported():
            imported = ImportedMatch.of(event)
            return replace(
                state,
                setup=event.setup,
                ply=imported.ply,
                moves=event.moves,
                acted=event.acted,
                out=event.out,
                texts=missing,
                position=position,
                imported=imported,
            )
        case _:
            return replace(state, texts=(event.text, *missing[1:]))


def _after_takeover(state: MatchState, event: SeatTakenOver) -> MatchState:
    """Return the state with another account in a seat, and without the leaver's offer or consent to one."""
    left = LeftSeat(event.seat, state.seats[event.seat], state.ply)
    return replace(
        state,
        seats=replace_at(state.seats, event.seat, event.account),
        offer=state.offer and state.offer.without(event.seat),
        left_seats=(*state.left_seats, left),
    )


def _offer_after(state: MatchState, event: OfferAnswered) -> CurrentOffer | None:
    """Return the offer after an answer; None once everybody has accepted."""
    if state.offer is None:
        return None
    return state.offer.after_answer(event.seat, accept=event.accept, playing=state.active_seats)


def _after_undo(state: MatchState, event: Undone | SetBack, position: bytes | None) -> MatchState:
    """Cut the moves; a seat that left during the moves taken back counts as having left at the ply."""
    imported = state.imported
    return replace(
        state,
        ply=event.ply,
        moves=" ".join(state.first_moves(event.ply)),
        next=event.next,
        out=tuple((seat, min(at, event.ply)) for seat, at in state.out),
        offer=None,
        position=position,
        imported=imported and replace(imported, ply=min(imported.ply, event.ply)),
    )


def fold(events: Iterable[tuple[Event, int]]) -> MatchState:
    """Return the state after all of `events`, each with its time in ms."""
    state = initial()
    for event, at in events:
        state = evolve(state, event, at)
    return state


def ply_after(event: Event, ply: int) -> int:
    """Return the number of moves after an event, which is `ply` before it."""
    match event:
        case Moved() | Undone() | SetBack():
            return event.ply
        case Imported():
            return ImportedMatch.of(event).ply
        case OpeningGiven():
            return len(event.moves.split())
        case _:
            return ply


def evolve_clock(  # noqa: C901, PLR0911, PLR0912 - one case an event
    clock: MatchClock | None, event: Event, at: int, mover: Seat | None
) -> MatchClock | None:
    """Return the clock after an event; `mover` is the seat to move before it."""
    if clock is None:
        return _first_clock(event, at)
    match event:
        case Moved():
            return clocks.after_ply(clock, event.seat, at)
        case OpeningGiven():
            return clocks.after_opening(clock, len(event.moves.split()))
        case MatchStarted() | Sealed():
            # vacations go on
            return clocks.after_seat_left(clock, at)
        case Undone() | SetBack():
            return clocks.after_undo(clock, event.ply, at)
        case TimeGiven():
            return clocks.after_time_given(clock, event.seat, event.ms)
        case Resigned() | Flagged() if event.next != mover:
            return clocks.after_seat_left(clock, at)
        case SeatTakenOver():
            there = clocks.after_vacation_end(clock, event.seat, at)
            return clocks.after_seat_left(there, at) if event.seat == mover else there
        case Nagged():
            return clocks.after_reminder(clock, event.seat, at)
        case Paused():
            return clocks.after_pause(clock, at)
        case Resumed():
            return clocks.after_resume(clock, at)
        case Absent():
            return clocks.after_vacation_start(clock, event.seat, at, event.until)
        case Returned():
            return clocks.after_vacation_end(clock, event.seat, event.until)
        case _:
            return clock


def _first_clock(event: Event, at: int) -> MatchClock | None:
    """Return the clock after the first event of a match; None without clocks."""
    if not isinstance(event, Challenged | MatchStarted) or event.terms is None:
        return None
    started = clocks.start_clock(event.terms, at)
    if isinstance(event, MatchProposed):
        # it runs once all have accepted
        return clocks.after_pause(started, at)
    if isinstance(event, Imported):
        return clocks.with_turns(started, event.turns, event.given)
    return started


T = TypeVar("T")


def evolve_commitments(gather: CommitState | None, event: Committed | Sealed) -> CommitState | None:
    """Return the progress after an event."""
    if gather is None:
        return None
    if isinstance(event, Sealed):
        return msgspec.structs.replace(gather, seal=(event.chain, event.k))
    return CommitState(replace_at(gather.commitments, event.seat, event.commitment), gather.seal)


def replace_at(items: tuple[T, ...], seat: Seat, item: T) -> tuple[T, ...]:
    """Return the items with the one of a seat replaced."""
    return (*items[:seat], item, *items[seat + 1 :])


def evolve_cases(
    cases: Cases,
    event: Claimed | Ruled | Appealed,
    *,
    seq: int,
    ply: int,
    at: int,
    actor: AccountId,
) -> Cases:
    """Return the cases after an event with that number, at that ply and time, by that account."""
    match event:
        case Claimed():
            return (*cases, Case(seq, event.seat, event.ply))
        case Ruled(claim=None):
            return (*cases, Case(seq, None, ply, at, actor))
        case Appealed():
            return _change(cases, event.claim, appeal=seq)
        case Ruled():
            again = any(case.claim == event.claim and case.appeal for case in cases)
            change = {"final": True} if again else {"ruled_at": at, "arbiter": actor}
            return _change(cases, event.claim, **change)


def _change(cases: Cases, claim: int | None, **change: Any) -> Cases:
    return tuple(replace(case, **change) if case.claim == claim else case for case in cases)


def evolve_invitation(invitation: Invitation | None, event: Event, at: int) -> Invitation | None:
    """Return the invitation after an event received at `at` ms; None once nobody is invited any longer."""
    match event:
        case MatchProposed():
            return Invitation(event.invited, at + event.lapse)
        case DealProposed():
            missing = [seat for seat, one in enumerate(event.commitments) if not one.digest]
            return Invitation(tuple(missing), at + event.lapse, event.server_deals)
        case Sealed():
            return None
    if invitation is None:
        return None
    seats = without_invited(invitation.seats, event)
    return msgspec.structs.replace(invitation, seats=seats) if seats else None


def without_invited(invited: tuple[Seat, ...], event: Event) -> tuple[Seat, ...]:
    """Return the invited seats without one that accepts by an event, in words or by a move."""
    match event:
        case Accepted() | Committed() | Moved():
            return tuple(seat for seat in invited if seat != event.seat)
        case _:
            return invited
