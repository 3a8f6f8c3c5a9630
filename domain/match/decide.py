"""The match as a decider: a command and a state in, events or a refusal out.

`decide` is pure and deterministic: the same command on the same state gives the same events in
any process. It never looks at names, clocks or passwords; the doors have done that.
"""

from typing import Any, Final, assert_never

import msgspec

from domain.errors import Code, Refusal
from domain.match.commands import (
    TEXT_LIMIT,
    Answer,
    Command,
    Decline,
    Move,
    Offer,
    Resign,
    Sent,
    Start,
)
from domain.match.events import (
    Answered,
    Declined,
    Ended,
    Event,
    MatchStarted,
    Moved,
    Offered,
    Resigned,
)
from domain.match.state import MatchState, Reason, position_of, positions
from domain.rules import AnyRules, Outcome, Seat, pack, pinned

OFFER_KINDS: Final = ("draw",)
"""What can be proposed in every game."""

_REPEATED: Final = 3
"""How often a position must have stood for a draw to be granted at once."""


class Decided(msgspec.Struct, frozen=True):
    """What a command leads to: at least one event, and the packed position if it changed."""

    events: tuple[Event, ...]
    position: bytes | None = None


class Rejected(msgspec.Struct, frozen=True):
    """A command that leads to nothing: a stable code, a sentence, and the move if it was one."""

    code: str
    sentence: str
    move: str | None = None


def decide(sent: Sent, state: MatchState) -> Decided | Rejected:
    """Give what `sent` leads to in `state`."""
    try:
        return _decide(sent, state)
    except Refusal as refusal:
        return Rejected(refusal.code, refusal.sentence, _canonical(sent.command, state))


def _decide(sent: Sent, state: MatchState) -> Decided:
    command = sent.command
    if isinstance(command, Start):
        return _start(command, state)
    seat = seat_of(sent.actor, state)
    if state.over:
        raise Refusal(Code.MATCH_OVER, "the match is over")
    match command:
        case Move():
            return _move(command, seat, state)
        case Offer():
            return _offer(command, seat, state)
        case Answer():
            return _answer(command, seat, state)
        case Resign():
            return _leave(seat, state, (Resigned(seat=seat),))
        case Decline():
            return _decline(seat, state)
        case _:  # pragma: no cover - the union is closed
            assert_never(command)


def seat_of(actor: bytes, state: MatchState) -> Seat:
    """Give the actor's seat; `unknown-board` before the start, `not-a-player` for others."""
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, "there is no such match")
    try:
        return state.seats.index(actor)
    except ValueError:
        raise Refusal(Code.NOT_A_PLAYER, "only its players can act in this match") from None


def read_move(rules: AnyRules, text: str) -> Any:
    """Read a move's text within the limit; refused as `too-long` or `unreadable-move`."""
    if len(text) > TEXT_LIMIT:
        raise Refusal(
            Code.TOO_LONG, f"the text has {len(text)} characters; {TEXT_LIMIT} are the most"
        )
    return rules.read(text)


def _canonical(command: Command, state: MatchState) -> str | None:
    """Give the move's canonical text for the log, if it is one that can be read."""
    if not isinstance(command, Move) or not state.started:
        return None
    rules = pinned(state.rules)
    try:
        return rules.write(read_move(rules, command.text))
    except Refusal:
        return None


def _start(command: Start, state: MatchState) -> Decided:
    if state.started:
        raise Refusal(Code.ALREADY_STARTED, "the match has started already")
    rules = pinned(command.rules)
    if len(command.seats) not in rules.players:
        counts = " or ".join(str(count) for count in rules.players)
        raise Refusal(Code.BAD_PLAYERS, f"{rules.title} is played by {counts}")
    if len(set(command.seats)) != len(command.seats):
        raise Refusal(Code.BAD_PLAYERS, "a player can't take two seats of one match")
    options = rules.read_options(command.options)
    position = rules.start(options, len(command.seats), None)
    outcome = rules.outcome(position)
    started = MatchStarted(
        rules=command.rules,
        options=rules.write_options(options),
        seats=command.seats,
        setup=None,
        next=None if outcome else rules.to_move(position),
    )
    return Decided((started, *_endings(outcome)), pack(position))


def _move(command: Move, seat: Seat, state: MatchState) -> Decided:
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
    return Decided((moved, *_endings(outcome)), pack(after))


def _endings(outcome: Outcome | None) -> tuple[Event, ...]:
    return () if outcome is None else (Ended(winners=outcome.winners, reason=outcome.reason),)


def _offer(command: Offer, seat: Seat, state: MatchState) -> Decided:
    if command.kind not in OFFER_KINDS:
        raise Refusal(
            Code.UNKNOWN_OFFER,
            f"{command.kind!r} can't be proposed; {', '.join(OFFER_KINDS)} can",
        )
    if state.offer is not None:
        if state.offer.seat == seat:
            raise Refusal(Code.OFFER_STANDS, f"your offer of a {state.offer.kind} stands already")
        # the others proposing the same thing is consent
        return _answer(Answer(accept=True), seat, state)
    offered = Offered(seat=seat, kind=command.kind)
    if _stood(state) >= _REPEATED:
        return Decided((offered, Ended(winners=_those_in(state), reason=Reason.REPETITION)))
    return Decided((offered,))


def _stood(state: MatchState) -> int:
    """Count how often the position, with the same player to move, has stood until now."""
    *earlier, now = positions(state)
    return 1 + earlier.count(now)


def _answer(command: Answer, seat: Seat, state: MatchState) -> Decided:
    offer = state.offer
    if offer is None:
        raise Refusal(Code.NO_OFFER, "no offer stands; one lapses when another player moves")
    if offer.seat == seat:
        raise Refusal(Code.NO_OFFER, "your own offer is for the others to answer")
    if seat in offer.accepted:
        raise Refusal(Code.OFFER_STANDS, f"you have accepted the {offer.kind} already")
    answered = Answered(seat=seat, kind=offer.kind, accept=command.accept)
    agreed = {offer.seat, seat, *offer.accepted}
    if command.accept and agreed.issuperset(_those_in(state)):
        return Decided((answered, Ended(winners=_those_in(state), reason=Reason.AGREEMENT)))
    return Decided((answered,))


def _decline(seat: Seat, state: MatchState) -> Decided:
    if state.acted >> seat & 1:
        raise Refusal(
            Code.TOO_LATE, "a match can be declined before the own first move only; resign instead"
        )
    return Decided((Declined(seat=seat), Ended(winners=(), reason=Reason.DECLINED)))


def _leave(seat: Seat, state: MatchState, events: tuple[Event, ...]) -> Decided:
    rest = tuple(other for other in _those_in(state) if other != seat)
    return Decided((*events, Ended(winners=rest, reason=Reason.RESIGNATION)))


def _those_in(state: MatchState) -> tuple[Seat, ...]:
    return tuple(seat for seat in range(len(state.seats)) if seat not in state.out)
