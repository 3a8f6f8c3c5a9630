"""What a decision is made from and what it comes to, and what all commands ask of a state."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from domain.errors import Code, Refusal
from domain.fairness import Draw, Seed
from domain.match.commands import TEXT_LIMIT
from domain.match.events import AccountId, Ended, Event, MatchStarted, Revealed, Sealed
from domain.match.replies import Replies
from domain.match.state import MatchState
from domain.rules import AnyRules, Outcome, Seat


class Decided(msgspec.Struct, frozen=True):
    """What a command leads to: at least one event, and the packed position if it changed."""

    events: tuple[Event, ...]
    position: bytes | None = None
    replies: Replies | None = None
    """What is laid ready after it, if that is not what was before."""

    @property
    def seed(self) -> tuple[int, int] | None:
        """Return chain and number of the seed that it uses up, if it is the first to use it."""
        for event in self.events:
            match event:
                case Sealed():
                    return event.chain, event.k
                case Revealed():
                    return None  # it was used up when it was sealed
                case MatchStarted(draw=Draw() as draw):
                    return draw.chain, draw.k
        return None


class Given(msgspec.Struct, frozen=True):
    """What a decision may need beside the command and the state."""

    received: int = 0
    """When the command came in, ms."""
    seed: Seed | None = None
    """What a draw would use: the shard's next, or that which was sealed."""
    replies: Replies = msgspec.field(default_factory=dict)
    """What the seats have laid ready."""
    kept: Mapping[Seat, bytes] = msgspec.field(default_factory=dict)
    """What the server keeps in place of players who keep no text themselves."""
    away: Mapping[AccountId, int] = msgspec.field(default_factory=dict)
    """Until when players of a match that begins are on vacation, ms."""


NOTHING: Final = Given()


class Rejected(msgspec.Struct, frozen=True):
    """A command that leads to nothing: a stable code, a sentence, and the move if it was one."""

    code: str
    sentence: str
    move: str | None = None


def seat_of(actor: bytes, state: MatchState) -> Seat:
    """Return the actor's seat; `unknown-board` before the start, `not-a-player` for others."""
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


def mover_of(state: MatchState) -> Seat:
    """Return the seat to move, where there is one."""
    assert state.next is not None
    return state.next


def endings(outcome: Outcome | None) -> tuple[Event, ...]:
    """Return the event that ends a match, if its rules have ended it."""
    return () if outcome is None else (Ended(winners=outcome.winners, reason=outcome.reason),)
