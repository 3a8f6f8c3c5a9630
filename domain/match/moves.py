"""Moves, conditional moves, and leaving a match, to nobody or to a substitute."""

import msgspec

from domain.errors import Code, Refusal
from domain.match.commands import (
    PlayMove,
    SubstitutePlayer,
)
from domain.match.conditional_moves import (
    NO_CONDITIONAL_MOVES,
    ConditionalMove,
    ConditionalMovesBySeat,
    drop,
    find_due,
    still_possible,
    turn_taken,
)
from domain.match.decision import Decision, ending_events, read_move, seat_to_move
from domain.match.events import (
    Accepted,
    Declined,
    Ended,
    Flagged,
    Moved,
    Resigned,
    SeatTakenOver,
)
from domain.match.evolve import evolve
from domain.match.sentences import SAY
from domain.match.state import MatchState, Reason, position_at, position_of
from domain.records import SERVER_ACCOUNT, AccountId
from domain.rules import Seat, pack_position, rules_by_id
from domain.sentences import Text


def play_move(command: PlayMove, seat: Seat, state: MatchState) -> Decision:
    """Play a move."""
    rules = rules_by_id(state.rules)
    if command.ply is not None and command.ply != state.ply:
        raise Refusal(Code.STALE_PLY, _why_stale(command.text, command.ply, seat, state))
    if seat != state.next:
        if state.next is None:
            raise Refusal(Code.NOT_YOUR_TURN, SAY("no-turn", side=rules.sides[seat]))
        turn = rules.sides[state.next]
        raise Refusal(Code.NOT_YOUR_TURN, SAY("turn", side=rules.sides[seat], turn=turn))
    before = position_of(state)
    move = rules.check(before, read_move(rules, command.text))
    after = rules.play(before, move)
    outcome = rules.outcome(after)
    moved = Moved(
        ply=state.ply + 1,
        seat=seat,
        move=rules.write(move),
        next=None if outcome else rules.to_move(after),
    )
    return Decision((moved, *ending_events(outcome)), pack_position(after))


def _why_stale(move: str, ply: int, seat: Seat, state: MatchState) -> Text:
    """Return that a move is for another ply, or that the player has already played it at that one."""
    same = state.first_moves(state.ply)[ply : ply + 1] == [move]
    if same and rules_by_id(state.rules).to_move(position_at(state, ply)) == seat:
        return SAY("played-already")
    return stale(ply, state)


def stale(ply: int, state: MatchState) -> Text:
    """Return that a command is for another ply than that of the match."""
    return SAY("stale", meant=ply, ply=state.ply)


_CHANGES_TURN = Moved | Resigned | Flagged
"""Events after which another seat may be to move and have a conditional move."""


def play_conditional_moves(
    decision: Decision, state: MatchState, replies: ConditionalMovesBySeat
) -> Decision:
    """Play conditional moves as long as one is due, and drop those that can't come any more.

    Those of a player whose seat a substitute takes over are dropped, with their notes.
    """
    left = {event.seat for event in decision.events if isinstance(event, SeatTakenOver)}
    after = _state_after(decision, state)
    remaining = (
        {seat: own for seat, own in replies.items() if seat not in left} if left else replies
    )
    while due := _due_conditional_move(decision, after, remaining):
        played = _try_conditional_move(due, after)
        if isinstance(played, Refusal):
            note = SAY("dropped", move=due.move, ply=after.ply, why=played.text)
            remaining = drop(remaining, seat_to_move(after), due, note)
            break
        remaining = turn_taken(remaining, seat_to_move(after))
        after = _state_after(played, after)
        decision = Decision((*decision.events, *played.events), played.position)
    remaining = (
        NO_CONDITIONAL_MOVES
        if after.over
        else still_possible(remaining, after.first_moves(after.ply), after.active_seats)
    )
    return msgspec.structs.replace(
        decision, conditional_moves=None if remaining == replies else remaining
    )


def _state_after(decision: Decision, state: MatchState) -> MatchState:
    """Return the state after a decision; its time stays that of the state before."""
    for event in decision.events:
        state = evolve(state, event, state.at, decision.position)
    return state


def _due_conditional_move(
    decision: Decision, after: MatchState, replies: ConditionalMovesBySeat
) -> ConditionalMove | None:
    if after.next is None or not isinstance(decision.events[-1], _CHANGES_TURN):
        return None
    return find_due(replies, after.next, after.first_moves(after.ply))


def _try_conditional_move(due: ConditionalMove, state: MatchState) -> Decision | Refusal:
    try:
        decision = play_move(PlayMove(text=due.move), seat_to_move(state), state)
    except Refusal as reason:
        return reason
    moved, *rest = decision.events
    return Decision((msgspec.structs.replace(moved, queued=True), *rest), decision.position)


def accept_invitation(seat: Seat, state: MatchState) -> Decision:
    """Accept a match by name without a move."""
    if seat not in state.invited:
        raise Refusal(Code.OFFER_STANDS, SAY("joined"))
    waits = len(state.invited) > 1
    return Decision((Accepted(seat=seat, next=None if waits else state.next),))


def may_decline(seat: Seat, state: MatchState) -> bool:
    """Return whether a player may still decline: before the own first move, or until all have accepted."""
    if state.pairing is not None:
        return False
    return state.awaits_entropy or bool(state.invited) or not state.acted >> seat & 1


def decline_match(seat: Seat, state: MatchState) -> Decision:
    """Refuse to play, before one's first move or before all have accepted the match."""
    if state.pairing is not None:
        raise Refusal(Code.AGAINST_TERMS, SAY("of-tournament"))
    if not may_decline(seat, state):
        raise Refusal(Code.TOO_LATE, SAY("moved"))
    return Decision((Declined(seat=seat), Ended(winners=(), reason=Reason.DECLINED)))


def decide_resignation(seat: Seat, state: MatchState) -> Decision:
    """Resign."""
    return leave_match(Resigned(seat=seat), Reason.RESIGNATION, state)


def leave_match(event: Resigned | Flagged, reason: Reason, state: MatchState) -> Decision:
    """Return the events after a seat resigned or was flagged, which may end the match."""
    rest = tuple(other for other in state.active_seats if other != event.seat)
    if len(rest) <= 1:
        return Decision((event, Ended(winners=rest, reason=reason)))
    rules = rules_by_id(state.rules)
    position = rules.remove_seat(position_of(state), event.seat)
    outcome = rules.outcome(position)
    mover = None if outcome else rules.to_move(position)
    return Decision(
        (msgspec.structs.replace(event, next=mover), *ending_events(outcome)),
        pack_position(position),
    )


def substitute_player(command: SubstitutePlayer, actor: AccountId, state: MatchState) -> Decision:
    """Let a substitute take over a seat; only the server may, in a match of a tournament that goes on."""
    if actor != SERVER_ACCOUNT:
        raise Refusal(Code.NOT_A_PLAYER, SAY("substitute-server"))
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-match"))
    if state.pairing is None:
        raise Refusal(Code.AGAINST_TERMS, SAY("substitute-alone"))
    if state.over:
        raise Refusal(Code.MATCH_OVER, SAY("over"))
    if command.seat not in state.active_seats:
        raise Refusal(Code.BAD_REQUEST, SAY("substitute-seat"))
    if command.account in state.seats:
        raise Refusal(Code.BAD_REQUEST, SAY("twice"))
    taken = SeatTakenOver(seat=command.seat, account=command.account, next=state.next)
    return Decision((taken,))
