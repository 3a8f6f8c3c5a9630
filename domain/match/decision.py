"""The inputs and the results of `decide`, and the checks that several commands share."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from domain.errors import Code, Refusal
from domain.fairness import ChainSeed
from domain.match.commands import TEXT_LIMIT
from domain.match.conditional_moves import ConditionalMovesBySeat
from domain.match.events import Ended, Event, OfferAnswered, Revealed, Sealed, draw_of
from domain.match.sentences import SAY
from domain.match.state import MatchState
from domain.records import AccountId
from domain.rules import AnyRules, GameOutcome, Seat
from domain.sentences import Text


class Decision(msgspec.Struct, frozen=True):
    """The result of a command: at least one event, and the packed position if it changed."""

    events: tuple[Event, ...]
    position: bytes | None = None
    conditional_moves: ConditionalMovesBySeat | None = None
    """The conditional moves afterwards, if they changed."""

    @property
    def seed(self) -> tuple[int, int] | None:
        """Return chain and number of the seed that this decision uses for the first time, if any."""
        for event in self.events:
            match event:
                case Sealed():
                    return event.chain, event.k
                case Revealed() | OfferAnswered():
                    return None  # it counts as used since it was sealed
                case _ if draw := draw_of(event):
                    return draw.chain, draw.k
        return None


class DecisionContext(msgspec.Struct, frozen=True):
    """The inputs of a decision beside the command and the state."""

    received: int = 0
    """The time at which the command was received, ms."""
    seed: ChainSeed | None = None
    """The seed for a draw: the shard's next one, or the sealed one."""
    conditional_moves: ConditionalMovesBySeat = msgspec.field(default_factory=dict)
    """The conditional moves of all seats."""
    stored_texts: Mapping[Seat, bytes] = msgspec.field(default_factory=dict)
    """The texts that the server stores, for players who don't keep one themselves."""
    away: Mapping[AccountId, int] = msgspec.field(default_factory=dict)
    """The end of each vacation, ms, among the players of a match that begins."""
    unseen: frozenset[Seat] = frozenset()
    """The seats whose browsers, which keep their texts, have not been seen since the seal."""


NO_CONTEXT: Final = DecisionContext()


class Rejection(msgspec.Struct, frozen=True):
    """A rejected command: a stable code, the reason, and the move if the command was a readable one."""

    code: str
    text: Text
    move: str | None = None

    @property
    def sentence(self) -> str:
        """The reason in English."""
        return str(self.text)


INTERNAL: Final = Rejection(Code.INTERNAL, SAY("failed"))
"""The verdict on a command that the server failed to decide."""


def seat_of(actor: bytes, state: MatchState) -> Seat:
    """Return the actor's seat; raises `Refusal` before the start, and for accounts without a seat."""
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-match"))
    try:
        return state.seats.index(actor)
    except ValueError:
        raise Refusal(Code.NOT_A_PLAYER, SAY("no-player")) from None


def read_move(rules: AnyRules, text: str) -> Any:
    """Read a move; raises `Refusal` with `too-long` or `unreadable-move`."""
    if len(text) > TEXT_LIMIT:
        raise Refusal(Code.TOO_LONG, SAY("too-long", length=len(text), most=TEXT_LIMIT))
    return rules.read(text)


def seat_to_move(state: MatchState) -> Seat:
    """Return the seat to move, of a match in which there is one."""
    assert state.next is not None
    return state.next


def ending_events(outcome: GameOutcome | None) -> tuple[Event, ...]:
    """Return the event that ends a match, if there is an outcome by its rules."""
    return () if outcome is None else (Ended(winners=outcome.winners, reason=outcome.reason),)
