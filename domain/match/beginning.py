"""How a match begins: at once, or when all have accepted it; and what chance draws."""

import msgspec

from domain.errors import Code, Refusal
from domain.fairness import Draw, Stream, key_of
from domain.match.commands import Answer, Decline, Sent, Start
from domain.match.decision import Decided, Given, endings
from domain.match.events import Challenged, Event, Gathered, MatchStarted
from domain.match.playing import decline
from domain.match.state import (
    MatchState,
)
from domain.rules import Seat, pack, pinned


def needs_seed(sent: Sent, state: MatchState) -> bool:
    """Tell whether deciding this may draw: then `decide` is to be given a seed."""
    match sent.command:
        case Start(gather=False) as start if not state.started:
            return draws(start.rules, start.options, len(start.seats))
        case Answer(accept=True) if state.gathering:
            return True
        case _:
            return False


def draws(name: str, flags: tuple[str, ...], players: int) -> bool:
    """Tell whether chance has a part in a start, if it is one that makes sense."""
    try:
        rules = pinned(name)
        return rules.needs_draw(rules.read_options(flags), players)
    except Refusal:
        return False


def start(command: Start, board: int, state: MatchState, given: Given) -> Decided:
    """Start a match, or call for one that waits for the others' entropy."""
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
    return Decided((*first, started, *endings(outcome)), pack(position))


def gather(sent: Sent, seat: Seat, state: MatchState, given: Given) -> Decided:
    """Decide what a player says to a match that waits for its players' entropy."""
    match sent.command:
        case Decline() | Answer(accept=False):
            return decline(seat, state)
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
