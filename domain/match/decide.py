"""The match as a decider: a command and a state in, events or a refusal out.

`decide` is pure and deterministic: the same command on the same state gives the same events in
any process. It never looks at names, clocks or passwords; the doors have done that.
"""

from typing import Any, Final, assert_never

import msgspec

from domain.clocks import ledger as clocks
from domain.errors import Code, Refusal
from domain.fairness import Draw, Seed, Stream, key_of
from domain.match.commands import (
    TEXT_LIMIT,
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
    Sent,
    Start,
)
from domain.match.events import (
    THE_SERVER,
    Absent,
    AccountId,
    Answered,
    Challenged,
    Declined,
    Ended,
    Event,
    Flagged,
    Gathered,
    MatchStarted,
    Moved,
    Nagged,
    Offered,
    Paused,
    Resigned,
    Resumed,
    Returned,
    Undone,
)
from domain.match.replies import NONE, Replies, Reply, dropped, find, kept
from domain.match.state import (
    MatchState,
    Offering,
    Reason,
    deadline,
    evolve,
    position_of,
    positions,
)
from domain.rules import AnyRules, Outcome, Seat, pack, pinned

OFFER_KINDS: Final = ("draw", "undo", "abort", "pause")
"""What can be proposed in every game."""

_REPEATED: Final = 3
"""How often a position must have stood for a draw to be granted at once."""


class Decided(msgspec.Struct, frozen=True):
    """What a command leads to: at least one event, and the packed position if it changed."""

    events: tuple[Event, ...]
    position: bytes | None = None
    replies: Replies | None = None
    """What is laid ready after it, if that is not what was before."""

    @property
    def draw(self) -> Draw | None:
        """Give what was drawn, if anything was."""
        for event in self.events:
            if isinstance(event, MatchStarted):
                return event.draw
        return None


class Given(msgspec.Struct, frozen=True):
    """What a decision may need beside the command and the state."""

    received: int = 0
    """When the command came in, ms."""
    seed: Seed | None = None
    """What a draw would use."""
    replies: Replies = msgspec.field(default_factory=dict)
    """What the seats have laid ready."""


NOTHING: Final = Given()


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


def decide(sent: Sent, state: MatchState, given: Given = NOTHING) -> Decided | Rejected:
    """Give what `sent` leads to in `state`, with what is given beside the two."""
    try:
        decided = _decide(sent, state, given)
        return _reply(decided, state, given.replies) if given.replies else decided
    except Refusal as refusal:
        return Rejected(refusal.code, refusal.sentence, _canonical(sent.command, state))


def _decide(sent: Sent, state: MatchState, given: Given) -> Decided:
    command = sent.command
    now = max(given.received, state.at)
    if isinstance(command, Start):
        return _start(command, sent.match, state, given)
    if isinstance(command, Nag | Flag):
        return _keep(command, sent.actor, state, now)
    seat = seat_of(sent.actor, state)
    if state.over:
        raise Refusal(Code.MATCH_OVER, "the match is over")
    if seat not in state.seats_in:
        raise Refusal(Code.NOT_A_PLAYER, "you have left the match, and the others play on")
    if state.gathering:
        return _gather(sent, seat, state, given)
    if isinstance(command, Resign):
        return _resign(seat, state)
    _check_time(state, now)
    return _act(command, seat, state, now)


def _act(
    command: Move | Offer | Answer | Decline | Resume | Away | Return,
    seat: Seat,
    state: MatchState,
    now: int,
) -> Decided:
    """Decide what a player asks for in a match that runs."""
    match command:
        case Move():
            return _move(command, seat, state)
        case Offer():
            return _offer(command, seat, state)
        case Answer():
            return _answer(command, seat, state)
        case Decline():
            return _decline(seat, state)
        case Resume():
            return _resume(seat, state)
        case Away() | Return():
            return Decided((_absence(command, seat, state, now),))
        case _:  # pragma: no cover - the union is closed
            assert_never(command)


_TURNING = Moved | Resigned | Flagged
"""Events after which another seat may be to move, and have a reply."""


def _reply(decided: Decided, state: MatchState, replies: Replies) -> Decided:
    """Play what was laid ready, as long as a reply is due, and drop what can't come to be."""
    after, left = _after(decided, state), replies
    while reply := _reply_due(decided, after, left):
        played = _played(reply, after)
        if isinstance(played, Refusal):
            note = f"{reply.move} at #{after.ply} was dropped: {played.sentence}"
            left = dropped(left, _mover(after), reply, note)
            break
        after = _after(played, after)
        decided = Decided((*decided.events, *played.events), played.position)
    left = NONE if after.over else kept(left, after.moves_of(after.ply), after.seats_in)
    return msgspec.structs.replace(decided, replies=None if left == replies else left)


def _after(decided: Decided, state: MatchState) -> MatchState:
    """Give the state after a decision, but for its time."""
    for event in decided.events:
        state = evolve(state, event, state.at, decided.position)
    return state


def _reply_due(decided: Decided, after: MatchState, replies: Replies) -> Reply | None:
    if after.next is None or not isinstance(decided.events[-1], _TURNING):
        return None
    return find(replies, after.next, after.moves_of(after.ply))


def _played(reply: Reply, state: MatchState) -> Decided | Refusal:
    try:
        decided = _move(Move(text=reply.move), _mover(state), state)
    except Refusal as reason:
        return reason
    moved, *rest = decided.events
    return Decided((msgspec.structs.replace(moved, queued=True), *rest), decided.position)


def _mover(state: MatchState) -> Seat:
    assert state.next is not None
    return state.next


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


def _start(command: Start, board: int, state: MatchState, given: Given) -> Decided:
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
    challenged = Challenged(
        rules=command.rules,
        options=flags,
        seats=command.seats,
        text=command.text,
        terms=command.terms,
    )
    if not command.gather:
        texts = (command.text, *[b""] * (len(command.seats) - 1))
        return _begin(challenged, texts, board, given)
    if not rules.needs_draw(options, len(command.seats)) or len(command.seats) == 1:
        raise Refusal(
            Code.BAD_OPTION, "chance decides nothing between players here; leave out --gather"
        )
    return Decided((challenged,))


def _begin(
    called: Challenged, texts: tuple[bytes, ...], board: int, given: Given, *first: Event
) -> Decided:
    """Draw what chance decides, and start; `first` are events that come before."""
    rules = pinned(called.rules)
    options, seats = rules.read_options(called.options), called.seats
    draw, setup = None, None
    if rules.needs_draw(options, len(seats)):
        if given.seed is None:
            raise ValueError("this start draws, and was given no seed")
        draw = Draw(given.seed.chain, given.seed.k, given.seed.seed, texts)
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
        terms=called.terms,
    )
    return Decided((*first, started, *_endings(outcome)), pack(position))


def _gather(sent: Sent, seat: Seat, state: MatchState, given: Given) -> Decided:
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
    called = Challenged(
        rules=state.rules,
        options=state.options,
        seats=state.seats,
        text=b"",
        terms=None if state.clock is None else state.clock.terms,
    )
    filled = tuple(text or b"" for text in texts)
    return _begin(called, filled, sent.match, given, gathered)


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
    if command.kind == "undo":
        _last_move_of(seat, state)
    if command.kind == "pause" and (state.clock is None or state.clock.paused):
        why = "is paused already" if state.clock else "has no clocks"
        raise Refusal(Code.UNKNOWN_OFFER, f"a pause can't be proposed: the match {why}")
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
        return _agreed(answered, offer, state)
    return Decided((answered,))


def _agreed(answered: Answered, offer: Offering, state: MatchState) -> Decided:
    """Give what follows when all have agreed."""
    match offer.kind:
        case "draw":
            ended: tuple[Event, ...] = (Ended(winners=state.seats_in, reason=Reason.AGREEMENT),)
        case "abort":
            ended = (Ended(winners=(), reason=Reason.ABORTED),)
        case "pause":
            ended = (Paused(),)
        case "undo":
            return _undo(answered, _last_move_of(offer.seat, state), state)
        case kind:
            ended = _endings(pinned(state.rules).agreed(position_of(state), kind))
    return Decided((answered, *ended))


def _last_move_of(seat: Seat, state: MatchState) -> int:
    """Give the number of moves played before a seat's last one; refused if it has none."""
    rules = pinned(state.rules)
    before = [rules.to_move(position) for position in positions(state)[:-1]]
    if seat not in before:
        raise Refusal(Code.UNKNOWN_OFFER, "you have no move to take back")
    return len(before) - 1 - before[::-1].index(seat)


def _undo(answered: Answered, ply: int, state: MatchState) -> Decided:
    """Take back all moves after the first `ply`."""
    # as evolve cuts it, with the position found by replay
    cut = evolve(state, Undone(ply=ply, next=None), state.at)
    position = position_of(cut)
    undone = Undone(ply=ply, next=pinned(state.rules).to_move(position))
    return Decided((answered, undone), pack(position))


def _decline(seat: Seat, state: MatchState) -> Decided:
    if state.acted >> seat & 1:
        raise Refusal(
            Code.TOO_LATE, "a match can be declined before the own first move only; resign instead"
        )
    return Decided((Declined(seat=seat), Ended(winners=(), reason=Reason.DECLINED)))


def _resign(seat: Seat, state: MatchState) -> Decided:
    return _leave(Resigned(seat=seat), Reason.RESIGNATION, state)


def _leave(left: Resigned | Flagged, reason: Reason, state: MatchState) -> Decided:
    """Give what follows when a seat leaves the match."""
    rest = tuple(other for other in state.seats_in if other != left.seat)
    if len(rest) <= 1:
        return Decided((left, Ended(winners=rest, reason=reason)))
    rules = pinned(state.rules)
    position = rules.leave(position_of(state), left.seat)
    outcome = rules.outcome(position)
    mover = None if outcome else rules.to_move(position)
    return Decided((msgspec.structs.replace(left, next=mover), *_endings(outcome)), pack(position))


# what the clocks say


def _check_time(state: MatchState, now: int) -> None:
    """Refuse what comes after the mover's time is over: only its flag can fall then."""
    flag = deadline(state)
    if flag is not None and now >= flag:
        side = pinned(state.rules).sides[_mover(state)]
        raise Refusal(Code.TIME_OVER, f"the time of {side} is over; the flag falls now")


def _keep(command: Nag | Flag, actor: AccountId, state: MatchState, now: int) -> Decided:
    """Decide what the keeper asks for: nobody else may."""
    if actor != THE_SERVER:
        raise Refusal(Code.NOT_A_PLAYER, "only the server reminds and flags")
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, "there is no such match")
    if state.over or state.next is None or state.clock is None:
        raise Refusal(Code.MATCH_OVER, "no clock runs in the match")
    if command.ply not in (None, state.ply):
        raise Refusal(Code.STALE_PLY, f"the match stands at #{state.ply} now")
    mover = state.next
    if isinstance(command, Nag):
        _check_time(state, now)
        _check_due(clocks.reminder(state.clock, mover), now)
        return Decided((Nagged(seat=mover),))
    _check_due(deadline(state), now)
    return _leave(Flagged(seat=mover), Reason.TIME, state)


def _check_due(instant: int | None, now: int) -> None:
    if instant is None or now < instant:
        raise Refusal(Code.TOO_EARLY, "the clock has not come to that")


def _resume(seat: Seat, state: MatchState) -> Decided:
    if state.clock is None or not state.clock.paused:
        raise Refusal(Code.NOT_PAUSED, "the match is not paused")
    return Decided((Resumed(seat=seat),))


def _absence(command: Away | Return, seat: Seat, state: MatchState, now: int) -> Event:
    if state.clock is None:
        raise Refusal(Code.BAD_OPTION, "the match has no clocks that could stop")
    if isinstance(command, Return):
        # what was off until now stays off
        return Returned(seat=seat, until=max(command.until, now))
    if command.until <= now:
        raise Refusal(Code.TOO_LATE, "the vacation is over already")
    return Absent(seat=seat, until=command.until)
