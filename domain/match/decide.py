"""The match as a decider: a command and a state in, events or a refusal out.

`decide` is pure and deterministic: the same command on the same state gives the same events in
any process. It never looks at names, clocks or passwords; the doors have done that.
"""

from typing import Any, Final, assert_never

import msgspec

from domain.errors import Code, Refusal
from domain.fairness import Draw, Seed, Stream, key_of
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
    Challenged,
    Declined,
    Ended,
    Event,
    Gathered,
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

    @property
    def draw(self) -> Draw | None:
        """Give what was drawn, if anything was."""
        for event in self.events:
            if isinstance(event, MatchStarted):
                return event.draw
        return None


class Rejected(msgspec.Struct, frozen=True):
    """A command that leads to nothing: a stable code, a sentence, and the move if it was one."""

    code: str
    sentence: str
    move: str | None = None


def needs_seed(sent: Sent, state: MatchState) -> bool:
    """Tell whether deciding this may draw: then `decide` is to be given a seed."""
    match sent.command:
        case Start(gather=False) as start if not state.started:
            return _draws(start.rules, start.options, len(start.seats))
        case Answer(accept=True) if state.gathering:
            return True
        case _:
            return False


def _draws(name: str, flags: tuple[str, ...], players: int) -> bool:
    """Tell whether chance has a part in a start, if it is one that makes sense."""
    try:
        rules = pinned(name)
        return rules.needs_draw(rules.read_options(flags), players)
    except Refusal:
        return False


def decide(sent: Sent, state: MatchState, seed: Seed | None = None) -> Decided | Rejected:
    """Give what `sent` leads to in `state`; `seed` is what a draw would use."""
    try:
        return _decide(sent, state, seed)
    except Refusal as refusal:
        return Rejected(refusal.code, refusal.sentence, _canonical(sent.command, state))


def _decide(  # noqa: PLR0911 - one return a command
    sent: Sent, state: MatchState, seed: Seed | None
) -> Decided:
    command = sent.command
    if isinstance(command, Start):
        return _start(command, sent.match, state, seed)
    seat = seat_of(sent.actor, state)
    if state.over:
        raise Refusal(Code.MATCH_OVER, "the match is over")
    if seat not in state.seats_in:
        raise Refusal(Code.NOT_A_PLAYER, "you have resigned, and the others play on without you")
    if state.gathering:
        return _gather(sent, seat, state, seed)
    match command:
        case Move():
            return _move(command, seat, state)
        case Offer():
            return _offer(command, seat, state)
        case Answer():
            return _answer(command, seat, state)
        case Resign():
            return _resign(seat, state)
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


def _start(command: Start, board: int, state: MatchState, seed: Seed | None) -> Decided:
    if state.started:
        raise Refusal(Code.ALREADY_STARTED, "the match has started already")
    rules = pinned(command.rules)
    if len(command.seats) not in rules.players:
        counts = " or ".join(str(count) for count in rules.players)
        raise Refusal(Code.BAD_PLAYERS, f"{rules.title} is played by {counts}")
    if len(set(command.seats)) != len(command.seats):
        raise Refusal(Code.BAD_PLAYERS, "a player can't take two seats of one match")
    options = rules.read_options(command.options)
    flags = rules.write_options(options)
    if not command.gather:
        texts = (command.text, *[b""] * (len(command.seats) - 1))
        called = Challenged(rules=command.rules, options=flags, seats=command.seats, text=b"")
        return _begin(called, texts, board, seed)
    if not rules.needs_draw(options, len(command.seats)) or len(command.seats) == 1:
        raise Refusal(
            Code.BAD_OPTION, "chance decides nothing between players here; leave out --gather"
        )
    challenged = Challenged(
        rules=command.rules, options=flags, seats=command.seats, text=command.text
    )
    return Decided((challenged,))


def _begin(
    called: Challenged, texts: tuple[bytes, ...], board: int, seed: Seed | None, *first: Event
) -> Decided:
    """Draw what chance decides, and start; `first` are events that come before."""
    rules = pinned(called.rules)
    options, seats = rules.read_options(called.options), called.seats
    draw, setup = None, None
    if rules.needs_draw(options, len(seats)):
        if seed is None:
            raise ValueError("this start draws, and was given no seed")
        draw = Draw(seed.chain, seed.k, seed.seed, texts)
        key = key_of(draw, seats, board, called.rules, called.options)
        setup = rules.draw(options, len(seats), Stream(key, called.rules))
    position = rules.start(options, len(seats), setup)
    outcome = rules.outcome(position)
    started = MatchStarted(
        rules=called.rules,
        options=called.options,
        seats=seats,
        setup=None if setup is None else msgspec.json.encode(setup).decode(),
        next=None if outcome else rules.to_move(position),
        draw=draw,
    )
    return Decided((*first, started, *_endings(outcome)), pack(position))


def _gather(sent: Sent, seat: Seat, state: MatchState, seed: Seed | None) -> Decided:
    """Decide what a player says to a match that waits for its players' entropy."""
    match sent.command:
        case Decline() | Answer(accept=False):
            return _decline(seat, state)
        case Answer() as answer if state.texts[seat] is None:
            gathered = Gathered(seat=seat, text=answer.text)
        case Answer():
            raise Refusal(Code.OFFER_STANDS, "you have accepted this match already")
        case _:
            raise Refusal(
                Code.NOT_STARTED,
                "the match waits until all players have accepted it; say accept or decline",
            )
    texts = tuple(gathered.text if s == seat else text for s, text in enumerate(state.texts))
    if None in texts:
        return Decided((gathered,))
    called = Challenged(rules=state.rules, options=state.options, seats=state.seats, text=b"")
    given = tuple(text or b"" for text in texts)
    return _begin(called, given, sent.match, seed, gathered)


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
    rules = pinned(state.rules)
    _check_offer(command.kind, rules, state)
    if state.offer is not None:
        if state.offer.kind != command.kind:
            raise Refusal(Code.OFFER_STANDS, f"a {state.offer.kind} is proposed; answer that first")
        if state.offer.seat == seat:
            raise Refusal(Code.OFFER_STANDS, f"your offer of a {state.offer.kind} stands already")
        # the others proposing the same thing is consent
        return _answer(Answer(accept=True), seat, state)
    offered = Offered(seat=seat, kind=command.kind)
    if command.kind == "draw" and _stood(state) >= _REPEATED:
        return Decided((offered, Ended(winners=state.seats_in, reason=Reason.REPETITION)))
    return Decided((offered,))


def _check_offer(kind: str, rules: AnyRules, state: MatchState) -> None:
    if len(state.seats) == 1:
        raise Refusal(Code.UNKNOWN_OFFER, "there is nobody to propose anything to")
    kinds = (*OFFER_KINDS, *rules.offers)
    if kind not in kinds:
        raise Refusal(Code.UNKNOWN_OFFER, f"{kind!r} can't be proposed; {' and '.join(kinds)} can")
    if kind in rules.offers:
        rules.check_offer(position_of(state), kind)


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
    if command.accept and agreed.issuperset(state.seats_in):
        return Decided((answered, *_agreed(offer.kind, state)))
    return Decided((answered,))


def _agreed(kind: str, state: MatchState) -> tuple[Event, ...]:
    """Give what follows when all have agreed."""
    if kind == "draw":
        return (Ended(winners=state.seats_in, reason=Reason.AGREEMENT),)
    return _endings(pinned(state.rules).agreed(position_of(state), kind))


def _decline(seat: Seat, state: MatchState) -> Decided:
    if state.acted >> seat & 1:
        raise Refusal(
            Code.TOO_LATE, "a match can be declined before the own first move only; resign instead"
        )
    return Decided((Declined(seat=seat), Ended(winners=(), reason=Reason.DECLINED)))


def _resign(seat: Seat, state: MatchState) -> Decided:
    rest = tuple(other for other in state.seats_in if other != seat)
    if len(rest) <= 1:
        ended = Ended(winners=rest, reason=Reason.RESIGNATION)
        return Decided((Resigned(seat=seat), ended))
    rules = pinned(state.rules)
    position = rules.leave(position_of(state), seat)
    outcome = rules.outcome(position)
    resigned = Resigned(seat=seat, next=None if outcome else rules.to_move(position))
    return Decided((resigned, *_endings(outcome)), pack(position))
