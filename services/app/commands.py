"""Actions of players in a match, and the command of each.

An action is also the body of its request over the API, so its fields have the limits and the words of that.
"""

from collections.abc import Mapping
from typing import Annotated, Final

import msgspec

from domain.errors import Code, Refusal
from domain.match import commands
from domain.match.commands import Command, CommandEnvelope
from domain.match.decision import seat_of
from domain.match.offers import DEAL, OFFER_KINDS
from domain.match.state import MatchState
from domain.rules import AnyRules, rules_by_id
from services.app.challenges import is_invited
from services.app.context import Actor, App
from services.app.draws import DrawPart, accept_command, read_text
from services.app.move_text import read_move
from services.app.play import Course, Steps, decided
from services.app.receipts import Answered
from services.app.sanctions import check_may_start
from services.app.sentences import SAY

RevealedText = Annotated[
    str, msgspec.Meta(min_length=2, max_length=128, pattern="^([0-9A-Fa-f]{2})+$")
]
"""In hex digits."""


class AskedInMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="do"):
    """Base of the actions in a match."""


class Move(AskedInMatch, frozen=True, tag="move"):
    """Play a move."""

    move: Annotated[str, msgspec.Meta(max_length=512, examples=["m13-j7"])]
    ply: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None
    """The number of moves played before this one; the move is refused if that has changed."""


class Offer(AskedInMatch, frozen=True, tag="offer"):
    """Make an offer, which needs the consent of the other players."""

    kind: Annotated[str, msgspec.Meta(max_length=24, examples=["draw", "undo", "pause"])]
    """`draw`, `undo`, `abort`, `pause`, `transfer`, or an offer of the game."""


class Accept(AskedInMatch, frozen=True, tag="accept"):
    """Accept the open offer, or a match that waits for consent."""

    entropy: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A word that goes into the draw by chance, if the match still waits for it."""
    commitment: Annotated[str, msgspec.Meta(pattern="^([0-9A-Fa-f]{64})?$")] = ""
    """If the match gathers (`--gather`): SHA-256 of a secret text that you keep, in hex. If it is
    empty, the server keeps a text for you."""


class Reveal(AskedInMatch, frozen=True, tag="reveal"):
    """Reveal the text that you committed to."""

    text: RevealedText
    """The text, in hex."""


class Reject(AskedInMatch, frozen=True, tag="reject"):
    """Reject the open offer."""


class Resign(AskedInMatch, frozen=True, tag="resign"):
    """Resign: give up the match."""


class Decline(AskedInMatch, frozen=True, tag="decline"):
    """Decline to play, before your first move."""


class Resume(AskedInMatch, frozen=True, tag="resume"):
    """End a pause."""


Action = Move | Offer | Accept | Reveal | Reject | Resign | Decline | Resume

_OF_PLAIN: Final[Mapping[type[Action], Command]] = {
    Reject: commands.AnswerOffer(accept=False),
    Resign: commands.ResignMatch(),
    Decline: commands.DeclineMatch(),
    Resume: commands.ResumeMatch(),
}

PLAIN_ACTIONS: Final[Mapping[str, Action]] = {
    "reject": Reject(),
    "resign": Resign(),
    "decline": Decline(),
    "resume": Resume(),
}
"""Actions that consist of their name."""


def act(app: App, actor: Actor, board: int, state: MatchState, action: Action) -> Course[Answered]:
    """Carry out a player's action in a match that was seen in this state."""
    asks_redis = isinstance(action, Accept) or is_invited(state, actor.account)
    return Course(_steps(app, actor, board, state, action), blocks=asks_redis)


def _steps(
    app: App, actor: Actor, board: int, state: MatchState, action: Action
) -> Steps[Answered]:
    return (yield from decided(app, command_of(app, actor, board, state, action), state.ply))


def command_of(
    app: App, actor: Actor, board: int, state: MatchState, action: Action
) -> CommandEnvelope:
    """Return the command for a player's action; refuses what can be refused without a decision.

    Only an `Accept` asks Redis, and an action of a player who has yet to accept the match: `sanctioned`.
    """
    if not state.started:
        raise Refusal(Code.UNKNOWN_BOARD, SAY("no-board", board=board))
    seat_of(actor.account, state)
    if isinstance(action, (Accept, Move)) and is_invited(state, actor.account):
        check_may_start(app, actor.account)
    command = _command(app, actor, board, state, action)
    return CommandEnvelope(board, actor.command_id(), actor.account, command)


def _command(app: App, actor: Actor, board: int, state: MatchState, action: Action) -> Command:
    match action:
        case Move():
            rules = rules_by_id(state.rules)
            return commands.PlayMove(
                text=rules.write(read_move(rules, action.move)), ply=action.ply
            )
        case Offer():
            return _offer(rules_by_id(state.rules), action.kind.lower())
        case Accept():
            part = DrawPart(action.entropy, action.commitment)
            return accept_command(app, board, actor.account, state, actor.command_id(), part)
        case Reveal():
            return commands.RevealText(text=read_text(action.text))
        case _:
            return _OF_PLAIN[type(action)]


def _offer(rules: AnyRules, kind: str) -> commands.MakeOffer:
    kinds = (*OFFER_KINDS, *rules.offers)
    if kind not in (*kinds, DEAL):
        raise Refusal(
            Code.UNKNOWN_OFFER,
            f"{kind[:24]!r} can't be proposed; write one of {', '.join(kinds)}",
        )
    return commands.MakeOffer(kind=kind)
