"""The match as a decider: a command and a state in, events or a refusal out.

`decide` is pure and deterministic: the same command on the same state gives the same events in
any process. It needs no names, clocks or passwords, because the front ends have checked those.
"""

from typing import assert_never

from domain.errors import Code, Refusal
from domain.match.absences import with_absences
from domain.match.beginning import concerned, gather, needs_seed, sealed_seed, start
from domain.match.commands import (
    Answer,
    Away,
    Command,
    Decline,
    Flag,
    Move,
    Nag,
    Offer,
    Resign,
    Resume,
    Return,
    Reveal,
    Sent,
    Start,
)
from domain.match.decision import NOTHING, Decided, Given, Rejected, read_move, seat_of
from domain.match.keeping import absence, check_time, keep, resume
from domain.match.offers import OFFER_KINDS, answer, offer
from domain.match.playing import decline, move, reply, resign
from domain.match.state import MatchState
from domain.rules import Seat, pinned

__all__ = [
    "NOTHING",
    "OFFER_KINDS",
    "Decided",
    "Given",
    "Rejected",
    "concerned",
    "decide",
    "needs_seed",
    "read_move",
    "sealed_seed",
    "seat_of",
]


def decide(sent: Sent, state: MatchState, context: Given = NOTHING) -> Decided | Rejected:
    """Return the events that a command leads to in this state, or why it is rejected."""
    try:
        decision = _decide(sent, state, context)
        if context.away:
            decision = with_absences(decision, state, context, max(context.received, state.at))
        return reply(decision, state, context.replies) if context.replies else decision
    except Refusal as refusal:
        return Rejected(refusal.code, refusal.sentence, _canonical(sent.command, state))


def _decide(sent: Sent, state: MatchState, context: Given) -> Decided:
    command = sent.command
    now = max(context.received, state.at)
    if isinstance(command, Start):
        return start(command, sent.match, state, context)
    if isinstance(command, Nag | Flag):
        return keep(command, sent.actor, state, now)
    seat = seat_of(sent.actor, state)
    if state.over:
        raise Refusal(Code.MATCH_OVER, "the match is over")
    if seat not in state.seats_in:
        raise Refusal(Code.NOT_A_PLAYER, "you have left the match, and the others play on")
    if state.gathering:
        return gather(sent, seat, state, context)
    if isinstance(command, Resign):
        return resign(seat, state)
    check_time(state, now)
    return _act(command, seat, state, now)


def _act(
    command: Move | Offer | Answer | Reveal | Decline | Resume | Away | Return,
    seat: Seat,
    state: MatchState,
    now: int,
) -> Decided:
    """Decide a player's command in a running match."""
    match command:
        case Move():
            return move(command, seat, state)
        case Offer():
            return offer(command, seat, state)
        case Answer():
            return answer(command, seat, state)
        case Reveal():
            raise Refusal(Code.TOO_LATE, "the match has started; there is nothing to reveal")
        case Decline():
            return decline(seat, state)
        case Resume():
            return resume(seat, state)
        case Away() | Return():
            return Decided((absence(command, seat, state, now),))
        case _:  # pragma: no cover - the union is closed
            assert_never(command)


def _canonical(command: Command, state: MatchState) -> str | None:
    """Return the move's canonical text for the log, if the text is readable."""
    if not isinstance(command, Move) or not state.started:
        return None
    rules = pinned(state.rules)
    try:
        return rules.write(read_move(rules, command.text))
    except Refusal:
        return None
