"""The draw by commit and reveal: players commit, the seed is sealed, the texts are revealed.

No player has an advantage: all commit before any text is known, and the last commitment fixes the
seed before the first text. The player who reveals last can compute the draw, but can only decline.
"""

import msgspec

from domain.fairness import Draw, Seed, Stream, key_of
from domain.match.decision import Decided, Given, endings
from domain.match.events import (
    Challenged,
    Ended,
    Event,
    MatchStarted,
    Revealed,
    Sealed,
    Withheld,
)
from domain.match.gathering import Gathering
from domain.match.state import MatchState, Reason, evolve
from domain.rules import Seat, pack, pinned


def begin(
    called: Challenged, texts: tuple[bytes, ...], board: int, context: Given, *first: Event
) -> Decided:
    """Draw the setup and start the match; `first` are the events before the start."""
    rules = pinned(called.rules)
    options, seats = rules.read_options(called.options), called.seats
    draw, setup = None, None
    if rules.needs_draw(options, len(seats)):
        seed = _seed(context)
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
        terms=called.terms,
    )
    return Decided((*first, started, *endings(outcome)), pack(position))


def called(state: MatchState) -> Challenged:
    """Return the event that proposed a match which still waits."""
    return Challenged(
        rules=state.rules,
        options=state.options,
        seats=state.seats,
        text=b"",
        terms=None if state.clock is None else state.clock.terms,
    )


def advance(state: MatchState, board: int, context: Given, *events: Event) -> Decided:
    """Return the events, which lead to `state`, and the events that follow from them.

    Those are the seal once all have committed, the texts that the server stores, and the start.
    """
    gather, found = _gather(state), [*events]

    def follow(event: Event) -> None:
        nonlocal state
        found.append(event)
        state = evolve(state, event, state.at)

    if gather.missing:
        return Decided(events)
    stored = {seat: text for seat in _unrevealed(state) if (text := _kept(gather, seat, context))}
    if gather.seal is None:
        seed = _seed(context)
        waits = tuple(seat for seat in _unrevealed(state) if seat not in stored)
        follow(Sealed(chain=seed.chain, k=seed.k, waits=waits))
    for seat, text in stored.items():
        follow(Revealed(seat=seat, text=text))
    if state.waits:
        return Decided(tuple(found))
    if _gather(state).seal != (_seed(context).chain, _seed(context).k):
        raise ValueError("the seed is not the one that was sealed")
    texts = tuple(text or b"" for text in state.texts)
    return begin(called(state), texts, board, context, *found)


def _seed(context: Given) -> Seed:
    if context.seed is None:
        raise ValueError("the decision needs a seed, and the context has none")
    return context.seed


def _unrevealed(state: MatchState) -> list[Seat]:
    return [seat for seat, text in enumerate(state.texts) if text is None]


def _kept(gather: Gathering, seat: Seat, context: Given) -> bytes | None:
    """Return the text that the server stores for a player, if it fits the player's commitment."""
    commitment = gather.commitments[seat]
    text = context.kept.get(seat, b"") + commitment.word
    return text if commitment.fits(text) else None


def reveal(text: bytes, seat: Seat, state: MatchState, board: int, context: Given) -> Decided:
    """Reveal a text that was checked; the last one starts the match."""
    revealed = Revealed(seat=seat, text=text)
    return advance(evolve(state, revealed, state.at), board, context, revealed)


def withhold(seats: tuple[Seat, ...]) -> Decided:
    """End a match because these seats did not reveal their texts."""
    withheld = tuple(Withheld(seat=seat) for seat in seats)
    return Decided((*withheld, Ended(winners=(), reason=Reason.DECLINED)))


def _gather(state: MatchState) -> Gathering:
    assert state.gather is not None
    return state.gather
