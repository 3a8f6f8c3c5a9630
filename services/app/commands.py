"""Commands in a match: from the action of a player to the command, and from its outcome to a result.

A front end loads the match, calls `command_of`, hands the command to its gateway, which is the one
step that waits, and gives the outcome to `finish`.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import Answer, Command, Decline, Resign, Resume, Reveal, Sent
from domain.match.decide import OFFER_KINDS, seat_of
from domain.match.state import MatchState
from domain.rules import AnyRules, pinned
from infra.gateway import OutcomePending
from infra.outcomes import Outcome
from services.app.actor import Actor
from services.app.context import App
from services.app.draws import NO_PART, Part, consent, read_text
from services.app.move_text import read_move


class PlayMove(msgspec.Struct, frozen=True):
    """Play a move; `ply`, if given, is the number of plies that the player believes were played."""

    text: str
    ply: int | None = None


class Propose(msgspec.Struct, frozen=True):
    """Propose something that needs the others' consent."""

    kind: str


class Consent(msgspec.Struct, frozen=True):
    """Accept the offer that stands, or a match that waits; `part` is for the draw of such a match."""

    part: Part = NO_PART


class RevealText(msgspec.Struct, frozen=True):
    """Reveal the text, in hex digits, that the player committed to."""

    text: str


PLAIN_ACTIONS: Final[Mapping[str, Answer | Resign | Decline | Resume]] = {
    "reject": Answer(accept=False),
    "resign": Resign(),
    "decline": Decline(),
    "resume": Resume(),
}
"""Actions that consist of their name."""

Action = PlayMove | Propose | Consent | RevealText | Answer | Resign | Decline | Resume


class MatchCommand(msgspec.Struct, frozen=True):
    """A command for the gateway, with the ply at which its sender saw the match."""

    sent: Sent
    ply: int


class OutcomeNotDurable(OutcomePending):
    """The command was accepted by a server that promises nothing, so it counts as pending."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("with durability none this is never more than pending")
        self.outcome = outcome


def command_of(
    app: App, actor: Actor, board: int, state: MatchState, action: Action
) -> MatchCommand:
    """Return the command by which a player acts in a match, refused where no decision is needed.

    Redis is asked for a `Consent` alone; see `needs_redis`.
    """
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, f"there is no match {board}")
    seat_of(actor.account, state)
    command = _command(app, actor, board, state, action)
    return MatchCommand(Sent(board, actor.command_id(), actor.account, command), state.ply)


def needs_redis(action: Action) -> bool:
    """Whether `command_of` asks Redis for such an action, so that an event loop must not wait."""
    return isinstance(action, Consent)


def finish(app: App, outcome: Outcome) -> Outcome:
    """Return the outcome of an accepted command, and refuse a refused one.

    Raises `OutcomeNotDurable` for an accepted command where durability is `none`.
    """
    if not outcome.accepted:
        raise Refusal(Code(outcome.code), outcome.sentence)
    if not app.durable:
        raise OutcomeNotDurable(outcome)
    return outcome


def _command(app: App, actor: Actor, board: int, state: MatchState, action: Action) -> Command:
    match action:
        case PlayMove():
            rules = pinned(state.rules)
            return commands.Move(text=rules.write(read_move(rules, action.text)), ply=action.ply)
        case Propose():
            return _offer(pinned(state.rules), action.kind.lower())
        case Consent():
            id_ = actor.command_id()
            return consent(app, board, actor.account, state, id_, action.part)
        case RevealText():
            return Reveal(text=read_text(action.text))
        case _:
            return action


def _offer(rules: AnyRules, kind: str) -> commands.Offer:
    kinds = (*OFFER_KINDS, *rules.offers)
    if kind not in kinds:
        raise Refusal(
            Code.UNKNOWN_OFFER,
            f"{kind[:24]!r} can't be proposed; what can be is: {', '.join(kinds)}",
        )
    return commands.Offer(kind=kind)
