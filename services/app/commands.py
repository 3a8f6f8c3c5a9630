"""Commands in a match: from the action of a player to the command, and from its outcome to a result.

A front end loads the match, calls `command_of`, submits the command through its gateway, which is
the only step that waits, and passes the outcome to `finish`.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import (
    AnswerOffer,
    Command,
    CommandEnvelope,
    DeclineMatch,
    ResignMatch,
    ResumeMatch,
    RevealText,
)
from domain.match.decide import OFFER_KINDS, seat_of
from domain.match.offers import DEAL
from domain.match.state import MatchState
from domain.rules import AnyRules, rules_by_id
from infra.store.gateway import WAIT_SECONDS, OutcomePending
from infra.store.outcomes import CommandOutcome
from services.app.actor import Actor
from services.app.context import App
from services.app.draws import NO_DRAW_PART, DrawPart, accept_command, read_text
from services.app.move_text import read_move
from services.app.sentences import SAY

__all__ = [
    "PLAIN_ACTIONS",
    "WAIT_SECONDS",
    "AcceptAction",
    "Action",
    "MatchCommand",
    "MoveAction",
    "OfferAction",
    "OutcomeNotDurable",
    "OutcomePending",
    "RevealAction",
    "command_of",
    "finish",
    "needs_redis",
]


class MoveAction(msgspec.Struct, frozen=True):
    """Play a move; `ply`, if given, is the number of plies that the player believes were played."""

    text: str
    ply: int | None = None


class OfferAction(msgspec.Struct, frozen=True):
    """Propose something that needs the others' consent."""

    kind: str


class AcceptAction(msgspec.Struct, frozen=True):
    """Accept the offer that stands, or a match that waits; `part` is for the draw of such a match."""

    part: DrawPart = NO_DRAW_PART


class RevealAction(msgspec.Struct, frozen=True):
    """Reveal the text, in hex digits, that the player committed to."""

    text: str


PLAIN_ACTIONS: Final[Mapping[str, AnswerOffer | ResignMatch | DeclineMatch | ResumeMatch]] = {
    "reject": AnswerOffer(accept=False),
    "resign": ResignMatch(),
    "decline": DeclineMatch(),
    "resume": ResumeMatch(),
}
"""Actions that consist of their name."""

Action = (
    MoveAction
    | OfferAction
    | AcceptAction
    | RevealAction
    | AnswerOffer
    | ResignMatch
    | DeclineMatch
    | ResumeMatch
)


class MatchCommand(msgspec.Struct, frozen=True):
    """A command for the gateway, with the ply at which its sender saw the match."""

    sent: CommandEnvelope
    ply: int


class OutcomeNotDurable(OutcomePending):
    """The server that accepted the command promises no durability, so it counts as pending."""

    def __init__(self, outcome: CommandOutcome) -> None:
        super().__init__("with durability none this is never more than pending")
        self.outcome = outcome


def command_of(
    app: App, actor: Actor, board: int, state: MatchState, action: Action
) -> MatchCommand:
    """Return the command for a player's action; refuses what can be refused without a decision.

    Only an `AcceptAction` asks Redis; see `needs_redis`.
    """
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    seat_of(actor.account, state)
    command = _command(app, actor, board, state, action)
    return MatchCommand(
        CommandEnvelope(board, actor.command_id(), actor.account, command), state.ply
    )


def needs_redis(action: Action) -> bool:
    """Return whether `command_of` asks Redis for such an action; then no event loop may call it."""
    return isinstance(action, AcceptAction)


def finish(app: App, outcome: CommandOutcome) -> CommandOutcome:
    """Return the outcome of an accepted command, and refuse a refused one.

    Raises `OutcomeNotDurable` for an accepted command where durability is `none`.
    """
    if not outcome.accepted:
        raise Refusal(Code(outcome.code), outcome.text)
    if not app.durable:
        raise OutcomeNotDurable(outcome)
    return outcome


def _command(app: App, actor: Actor, board: int, state: MatchState, action: Action) -> Command:
    match action:
        case MoveAction():
            rules = rules_by_id(state.rules)
            return commands.PlayMove(
                text=rules.write(read_move(rules, action.text)), ply=action.ply
            )
        case OfferAction():
            return _offer(rules_by_id(state.rules), action.kind.lower())
        case AcceptAction():
            id_ = actor.command_id()
            return accept_command(app, board, actor.account, state, id_, action.part)
        case RevealAction():
            return RevealText(text=read_text(action.text))
        case _:
            return action


def _offer(rules: AnyRules, kind: str) -> commands.MakeOffer:
    kinds = (*OFFER_KINDS, *rules.offers)
    if kind not in (*kinds, DEAL):
        raise Refusal(
            Code.UNKNOWN_OFFER,
            f"{kind[:24]!r} can't be proposed; write one of {', '.join(kinds)}",
        )
    return commands.MakeOffer(kind=kind)
