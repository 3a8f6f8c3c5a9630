"""Moves, conditional moves, and leaving a match."""

import msgspec

from domain.errors import Code, Refusal
from domain.match.commands import (
    Move,
)
from domain.match.decision import Decided, endings, mover_of, read_move
from domain.match.events import Declined, Ended, Flagged, Moved, Resigned
from domain.match.replies import NONE, Replies, Reply, dropped, find, kept
from domain.match.state import MatchState, Reason, evolve, position_of
from domain.rules import Seat, pack, pinned


def move(command: Move, seat: Seat, state: MatchState) -> Decided:
    """Play a move."""
    rules = pinned(state.rules)
    if command.ply is not None and command.ply != state.ply:
        raise Refusal(
            Code.STALE_PLY,
            f"the command was meant for #{command.ply}, but the match stands at #{state.ply}",
        )
    if seat != state.next:
        sides = rules.sides
        turn = sides[state.next] if state.next is not None else "nobody"
        raise Refusal(Code.NOT_YOUR_TURN, f"you play {sides[seat]}, and it is {turn}'s turn")
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
    return Decided((moved, *endings(outcome)), pack(after))


_TURNING = Moved | Resigned | Flagged
"""Events after which another seat may be to move and have a conditional move."""


def reply(decision: Decided, state: MatchState, replies: Replies) -> Decided:
    """Play conditional moves as long as one is due, and drop those that can't come any more."""
    after, remaining = _after(decision, state), replies
    while due := _reply_due(decision, after, remaining):
        played = _played(due, after)
        if isinstance(played, Refusal):
            note = f"{due.move} at #{after.ply} was dropped: {played.sentence}"
            remaining = dropped(remaining, mover_of(after), due, note)
            break
        after = _after(played, after)
        decision = Decided((*decision.events, *played.events), played.position)
    remaining = NONE if after.over else kept(remaining, after.moves_of(after.ply), after.seats_in)
    return msgspec.structs.replace(decision, replies=None if remaining == replies else remaining)


def _after(decision: Decided, state: MatchState) -> MatchState:
    """Return the state after a decision; its time stays that of the state before."""
    for event in decision.events:
        state = evolve(state, event, state.at, decision.position)
    return state


def _reply_due(decision: Decided, after: MatchState, replies: Replies) -> Reply | None:
    if after.next is None or not isinstance(decision.events[-1], _TURNING):
        return None
    return find(replies, after.next, after.moves_of(after.ply))


def _played(due: Reply, state: MatchState) -> Decided | Refusal:
    try:
        decision = move(Move(text=due.move), mover_of(state), state)
    except Refusal as reason:
        return reason
    moved, *rest = decision.events
    return Decided((msgspec.structs.replace(moved, queued=True), *rest), decision.position)


def decline(seat: Seat, state: MatchState) -> Decided:
    """Refuse to play, before one's first move."""
    if state.acted >> seat & 1:
        raise Refusal(
            Code.TOO_LATE, "you can decline a match only before your first move; resign instead"
        )
    return Decided((Declined(seat=seat), Ended(winners=(), reason=Reason.DECLINED)))


def resign(seat: Seat, state: MatchState) -> Decided:
    """Resign."""
    return leave(Resigned(seat=seat), Reason.RESIGNATION, state)


def leave(event: Resigned | Flagged, reason: Reason, state: MatchState) -> Decided:
    """Return the events after a seat resigned or was flagged, which may end the match."""
    rest = tuple(other for other in state.seats_in if other != event.seat)
    if len(rest) <= 1:
        return Decided((event, Ended(winners=rest, reason=reason)))
    rules = pinned(state.rules)
    position = rules.leave(position_of(state), event.seat)
    outcome = rules.outcome(position)
    mover = None if outcome else rules.to_move(position)
    return Decided((msgspec.structs.replace(event, next=mover), *endings(outcome)), pack(position))
