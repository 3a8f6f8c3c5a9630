"""The state of a match, folded from its events, and the position at any ply.

`evolve` is total and validates nothing, because the events were decided. It needs no rules either,
so folding a history is fast. The position in the state is a cache: a caller that has just computed
it passes it in, and otherwise `position_of` replays the moves.
"""

from collections.abc import Iterable
from typing import Any, assert_never

import msgspec
from msgspec.structs import replace

from domain.clocks import match_clock as clocks
from domain.clocks.match_clock import MatchClock
from domain.match.cases import Cases, evolve_cases
from domain.match.clock_fold import evolve_clock
from domain.match.commitments import CommitState, evolve_commitments, replace_at
from domain.match.current_offer import CurrentOffer
from domain.match.dispute_events import Appealed, Claimed, ResultChanged, Ruled, SetBack, TimeGiven
from domain.match.events import (
    SERVER_ACCOUNT,
    Absent,
    Accepted,
    AccountId,
    Called,
    Challenged,
    Committed,
    DealProposed,
    Declined,
    Ended,
    Event,
    Flagged,
    Gathered,
    Imported,
    MatchProposed,
    MatchStarted,
    Moved,
    Nagged,
    OfferAnswered,
    OfferMade,
    Paused,
    Resigned,
    Resumed,
    Returned,
    Revealed,
    Sealed,
    Undone,
    Withheld,
)
from domain.match.imported import ImportedMatch
from domain.match.invitation import Invitation, evolve_invitation
from domain.match.reasons import Reason as Reason  # noqa: PLC0414 - part of this module
from domain.rules import AnyRules, Seat, pack_position, rules_by_id, unpack_position


class MatchState(msgspec.Struct, frozen=True, array_like=True):
    """A match after its last event. A snapshot stores it.

    `rules` is empty before the first event.
    """

    rules: str = ""
    options: tuple[str, ...] = ()
    seats: tuple[AccountId, ...] = ()
    setup: str | None = None
    seq: int = 0
    """The number of the last event."""
    at: int = 0
    """The time of the last event, ms."""
    ply: int = 0
    """The number of moves."""
    moves: str = ""
    """The canonical texts of the moves, separated by blanks."""
    next: Seat | None = None
    """The seat to move."""
    acted: int = 0
    """Bit s is set once seat s has moved."""
    out: tuple[tuple[Seat, int], ...] = ()
    """Seats that have resigned or run out of time, each with the ply at which it did."""
    offer: CurrentOffer | None = None
    result: Ended | None = None
    texts: tuple[bytes | None, ...] = ()
    """Before a draw that waits for entropy: each seat's text, None for missing ones."""
    position: bytes | None = None
    """`pack_position` of the position after `ply` moves; None if it has not been computed."""
    clock: MatchClock | None = None
    """None for a match without clocks."""
    gather: CommitState | None = None
    """Before a draw by commit and reveal; None otherwise."""
    cases: Cases = ()
    """Claims, with all that followed them."""
    imported: ImportedMatch | None = None
    """None for a match that began here."""
    invitation: Invitation | None = None
    """Of a match by name that some of its players have yet to accept, or had when it ended; None otherwise."""

    @property
    def started(self) -> bool:
        """Whether there is a match."""
        return bool(self.rules)

    @property
    def invited(self) -> tuple[Seat, ...]:
        """The seats that have yet to accept a match by name that is not over."""
        return self.invitation.seats if self.invitation is not None and not self.over else ()

    @property
    def awaits_entropy(self) -> bool:
        """Whether the match waits for its players' entropy, or for their consent to an import."""
        return bool(self.texts) and not self.over

    @property
    def has_no_position(self) -> bool:
        """Whether there is no position, because the match waits for entropy or ended before its draw."""
        return bool(self.texts) and self.imported is None

    @property
    def waits(self) -> tuple[Seat, ...]:
        """The seats to act: the one to move, or those to accept, commit or reveal."""
        if not self.awaits_entropy:
            mover = () if self.next is None else (self.next,)
            return mover if not self.invited else tuple(dict.fromkeys((*mover, *self.invited)))
        if self.gather is not None and self.gather.seal is None:
            return self.gather.missing
        return tuple(seat for seat, text in enumerate(self.texts) if text is None)

    @property
    def sealed(self) -> bool:
        """Whether all players have committed and the match waits for their texts."""
        return self.awaits_entropy and self.gather is not None and self.gather.seal is not None

    @property
    def active_seats(self) -> tuple[Seat, ...]:
        """The seats that play on."""
        seats = range(len(self.seats))
        if not self.out:
            return tuple(seats)
        out = {seat for seat, _ in self.out}
        return tuple(seat for seat in seats if seat not in out)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.result is not None

    @property
    def played(self) -> bool:
        """Whether every seat has moved, in a match that was not over before it was imported."""
        ended_before = self.imported is not None and self.imported.result is not None
        return not ended_before and self.acted == (1 << len(self.seats)) - 1

    @property
    def rated(self) -> bool:
        """Whether the match counts for ratings once it is over; an imported one never does."""
        agreed = self.clock is None or self.clock.terms.rated
        return self.played and agreed and self.imported is None

    def first_moves(self, plies: int) -> list[str]:
        """Return the first `plies` moves."""
        return self.moves.split(" ")[:plies] if self.ply else []


def initial() -> MatchState:
    """Return the state of a match before its first event."""
    return MatchState()


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
    # most events are of matches that nobody is invited to any longer
    if state.invitation is not None or isinstance(event, MatchProposed | DealProposed):
        after = replace(after, invitation=evolve_invitation(state.invitation, event, at))
        if state.invited and not after.invited and clock is not None:
            clock = clocks.after_resume(clock, at)
    if isinstance(event, Claimed | Ruled | Appealed):
        seq, ply = state.seq + 1, state.ply
        cases = evolve_cases(state.cases, event, seq=seq, ply=ply, at=at, actor=actor)
        after = replace(after, cases=cases)
    return replace(after, seq=state.seq + 1, at=at, clock=clock)


def next_due(state: MatchState) -> int:
    """Return the time of the next reminder or flag, ms; 0 if none is due without another event."""
    if state.over or (state.clock is None and not state.invited):
        return 0
    if state.next is None or state.clock is None or state.invited:
        return deadline(state) or 0
    return clocks.next_due(state.clock, state.next) or 0


def deadline(state: MatchState) -> int | None:
    """Return the time of the next flag, ms; None if none is due without another event.

    A player has as long to commit or to reveal as a move may take, without vacations. There is no
    limit for accepting a match without commitments. An invitation has its own time.
    """
    if state.invitation is not None and state.invited:
        return state.invitation.lapses
    if state.clock is None:
        return None
    if state.next is not None:
        return clocks.flag_time(state.clock, state.next)
    if state.gather is None or not state.awaits_entropy:
        return None
    return min(
        (at for seat in state.waits if (at := deadline_of(state, seat)) is not None), default=None
    )


def deadline_of(state: MatchState, seat: Seat) -> int | None:
    """Return when the time of a seat to act is over, ms; None without a limit."""
    if state.invitation is not None and state.invited:
        return state.invitation.lapses
    return None if state.clock is None else clocks.flag_time(state.clock, seat)


def reminder_is_due(state: MatchState, now: int = 0) -> bool:
    """Return whether a reminder, not a flag, is due at `now`, ms.

    A reminder that is late is not sent after the flag is due.
    """
    if state.clock is None or state.next is None or state.invited:
        return False
    flag = deadline(state)
    return clocks.reminder_time(state.clock, state.next) is not None and (
        flag is None or now < flag
    )


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
        case Accepted() | Declined() | Withheld():
            return state  # `evolve` has the invitation
        case Nagged() | Paused() | Resumed() | Absent() | Returned():
            return state
        case Claimed() | Ruled() | Appealed() | TimeGiven():
            return state  # `evolve` has the cases, and the clock has the time
        case Ended():
            return replace(state, result=event, next=None, offer=None)
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
            return replace(begun, gather=None, offer=None)
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


def position_of(state: MatchState) -> Any:
    """Return the current position, cached or replayed; a struct of the game's type."""
    if state.position is not None:
        return unpack_position(state.rules, state.position)
    return position_at(state, state.ply)


def position_at(state: MatchState, plies: int) -> Any:
    """Return the position after the first `plies` moves, by replay; 0 is the start."""
    return positions(state)[plies]


def positions(state: MatchState) -> list[Any]:
    """Return all `ply` + 1 positions from the start to now, by replay."""
    rules = rules_by_id(state.rules)
    position = without_leavers(state, rules, first_position(state), 0)
    found = [position]
    for ply, move in enumerate(state.first_moves(state.ply), 1):
        position = without_leavers(state, rules, rules.play(position, rules.read(move)), ply)
        found.append(position)
    return found


def without_leavers(state: MatchState, rules: AnyRules, position: Any, ply: int) -> Any:
    """Return the position without the seats that left at that ply while two others went on."""
    for gone, (seat, at) in enumerate(state.out, 1):
        if at == ply and len(state.seats) - gone > 1:
            position = rules.remove_seat(position, seat)
    return position


def first_position(state: MatchState) -> Any:
    """Return the position before the first move, with all players in it."""
    rules = rules_by_id(state.rules)
    setup = None if state.setup is None else msgspec.json.decode(state.setup)
    return rules.start(rules.read_options(state.options), len(state.seats), setup)


def cache_position(state: MatchState) -> MatchState:
    """Return the same state with the position computed."""
    if state.position is not None or not state.started or state.has_no_position:
        return state
    return replace(state, position=pack_position(position_of(state)))
