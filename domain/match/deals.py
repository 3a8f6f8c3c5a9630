"""Deals by chance: which kind set up a match, and the one by commit and reveal.

Players commit, the seed is sealed, the texts are revealed. No player has an advantage: all commit before any text is
known, and the last commitment fixes the seed before the first text. The player who reveals last can compute the
deal, but can only decline.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

import msgspec

from domain.fairness import ChainSeed, DrawStream, SetupDraw, draw_key
from domain.match.decision import Decision, DecisionContext, ending_events
from domain.match.events import (
    Called,
    Challenged,
    DealProposed,
    Declined,
    Ended,
    Event,
    Imported,
    MatchStarted,
    Revealed,
    Sealed,
    Withheld,
)
from domain.match.evolve import evolve
from domain.match.state import CommitState, MatchState, Reason
from domain.rules import Seat, pack_position, rules_by_id


class DealKind(StrEnum):
    """A kind of deal."""

    ALONE = "alone"
    """The challenger alone added to it, or the only player."""
    IN_TURN = "in-turn"
    """The players gave their texts one after another."""
    BY_SERVER = "by-server"
    """The server dealt at once, and kept the texts of all players."""
    SEALED = "sealed"
    """Players committed to texts that they kept, and revealed them after the seal."""
    AGREED = "agreed"
    """It was sealed, and then all players agreed that the server deals without the missing texts."""


def deal_kind(events: Iterable[Event]) -> DealKind | None:
    """Return the kind of a match's deal, before it too; None where chance sets up nothing.

    `events` are those of the match in order; none after the start is asked for.
    """
    later = iter(events)
    match next(later, None):
        case Imported():
            return None
        case DealProposed(server_deals=True):
            return DealKind.BY_SERVER
        case Called():
            return _committed_kind(later)
        case Challenged():
            return DealKind.IN_TURN
        case MatchStarted(draw=SetupDraw()):
            return DealKind.ALONE
        case _:
            return None


def _committed_kind(events: Iterable[Event]) -> DealKind:
    """Return the kind of a deal to whose texts players commit first."""
    missing: set[int] = set()
    for event in events:
        match event:
            case Sealed(waits=()):
                return DealKind.BY_SERVER
            case Sealed(waits=waits):
                missing.update(waits)
            case Revealed(seat=seat):
                missing.discard(seat)
            case MatchStarted():
                return DealKind.AGREED if missing else DealKind.SEALED
    return DealKind.SEALED


def draw_and_start(
    called: Challenged,
    texts: tuple[bytes, ...],
    board: int,
    context: DecisionContext,
    *first: Event,
) -> Decision:
    """Draw the setup and start the match; `first` are the events before the start."""
    rules = rules_by_id(called.rules)
    options, seats = rules.read_options(called.options), called.seats
    draw, setup = None, None
    if rules.needs_draw(options, len(seats)):
        seed = _seed_of(context)
        draw = SetupDraw(seed.chain, seed.k, seed.seed, texts)
        key = draw_key(draw, seats, board, called.rules, called.options)
        setup = rules.draw(options, len(seats), DrawStream(key, called.rules))
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
    return Decision((*first, started, *ending_events(outcome)), pack_position(position))


def proposal_of(state: MatchState) -> Challenged:
    """Return the event that proposed a match which still waits."""
    return Challenged(
        rules=state.rules,
        options=state.options,
        seats=state.seats,
        text=b"",
        terms=None if state.clock is None else state.clock.terms,
    )


def advance_commitments(
    state: MatchState, board: int, context: DecisionContext, *events: Event
) -> Decision:
    """Return the events, which lead to `state`, and the events that follow from them.

    Those are the seal once all have committed, the texts that the server stores, and the start.
    """
    gather, found = _commit_state(state), [*events]

    def follow(event: Event) -> None:
        nonlocal state
        found.append(event)
        state = evolve(state, event, state.at)

    if gather.missing:
        return Decision(events)
    stored = {
        seat: text
        for seat in _seats_to_reveal(state)
        if (text := _stored_text(gather, seat, context))
    }
    if gather.seal is None:
        seed = _seed_of(context)
        waits = tuple(seat for seat in _seats_to_reveal(state) if seat not in stored)
        follow(Sealed(chain=seed.chain, k=seed.k, waits=waits))
    for seat, text in stored.items():
        follow(Revealed(seat=seat, text=text))
    if state.waits:
        return Decision(tuple(found))
    return draw_sealed(state, board, context, *found)


def draw_sealed(state: MatchState, board: int, context: DecisionContext, *first: Event) -> Decision:
    """Draw with the sealed seed and start the match; a text that is missing counts as empty."""
    if _commit_state(state).seal != (_seed_of(context).chain, _seed_of(context).k):
        raise ValueError("the seed is not the one that was sealed")
    texts = tuple(text or b"" for text in state.texts)
    return draw_and_start(proposal_of(state), texts, board, context, *first)


def _seed_of(context: DecisionContext) -> ChainSeed:
    if context.seed is None:
        raise ValueError("the decision needs a seed, and the context has none")
    return context.seed


def _seats_to_reveal(state: MatchState) -> list[Seat]:
    return [seat for seat, text in enumerate(state.texts) if text is None]


def _stored_text(gather: CommitState, seat: Seat, context: DecisionContext) -> bytes | None:
    """Return the text that the server stores for a player, if it fits the player's commitment."""
    commitment = gather.commitments[seat]
    text = context.stored_texts.get(seat, b"") + commitment.word_digest
    return text if commitment.matches(text) else None


def reveal_text(
    text: bytes, seat: Seat, state: MatchState, board: int, context: DecisionContext
) -> Decision:
    """Reveal a text that was checked; the last one starts the match."""
    revealed = Revealed(seat=seat, text=text)
    return advance_commitments(evolve(state, revealed, state.at), board, context, revealed)


def end_without_texts(seats: Sequence[Seat], unseen: Collection[Seat]) -> Decision:
    """End a sealed match because these seats did not reveal their texts.

    One whose browser with the text has not been seen since the seal could not, and declines.
    """
    missing = tuple(
        Declined(seat=seat) if seat in unseen else Withheld(seat=seat) for seat in seats
    )
    return Decision((*missing, Ended(winners=(), reason=Reason.DECLINED)))


def _commit_state(state: MatchState) -> CommitState:
    assert state.gather is not None
    return state.gather
