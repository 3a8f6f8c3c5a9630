"""Commands in a match: `POST /api/matches/{board}/commands`."""

from contextlib import suppress
from typing import Annotated, Final

import msgspec
from litestar import Response
from litestar.params import JSONBody, PathParameter

from domain.errors import Code, Refusal
from domain.match.decide import seat_of
from domain.match.state import MatchState
from domain.translation import ENGLISH, Translation
from infra.languages.wording import wording
from infra.people.tokens import Scope
from infra.store.outcomes import parse
from services.app.actor import Actor
from services.app.answered import Answered, answered
from services.app.commands import (
    PLAIN_ACTIONS,
    WAIT_SECONDS,
    AcceptAction,
    Action,
    MatchCommand,
    MoveAction,
    OfferAction,
    OutcomePending,
    RevealAction,
    finish,
)
from services.app.draws import DrawPart, read_text, reveal_command
from services.app.receipts import DecidedCommand
from services.http.accept_language import headers_of_language, wanted_language
from services.http.api.auth import AnyRequest, Context, Own
from services.http.api.bodies import RequestBody
from services.http.api.command_requests import Sender, Wait, send
from services.http.api.declared import ANYBODY, MOVE_ERRORS, ApiRoutes, refuses
from services.http.api.pending import outcome_at
from services.http.context import ApiContext

BoardNumber = Annotated[int, PathParameter(ge=1, le=10**15, description="the match's number")]
CommandNumber = Annotated[
    str, PathParameter(pattern="^[0-9a-f]{32}$", description="the command's id")
]
RevealedText = Annotated[
    str, msgspec.Meta(min_length=2, max_length=128, pattern="^([0-9A-Fa-f]{2})+$")
]
"""In hex digits."""

api = ApiRoutes("commands")


class AskedInMatch(RequestBody, frozen=True, tag_field="do"):
    """Base of the commands in a match."""


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


COMMANDS_PATH: Final = "/api/matches/{board:int}/commands"

AnyAsked = Move | Offer | Accept | Reveal | Reject | Resign | Decline | Resume


@api.post(COMMANDS_PATH, "Send a command", Scope.PLAY, waits=True)
@refuses(
    *MOVE_ERRORS,
    Code.UNREADABLE_MOVE,
    Code.UNKNOWN_OFFER,
    Code.BAD_OPTION,
    Code.WRONG_TEXT,
    Code.ALREADY_STARTED,
    Code.OFFER_STANDS,
    Code.NO_OFFER,
    Code.NOT_PAUSED,
    Code.TOO_EARLY,
    Code.TOO_LATE,
)
async def give_command(board: BoardNumber, data: JSONBody[AnyAsked], sender: Sender) -> Answered:
    """Carry out a command, and return its outcome once it is durable."""
    context = sender.context
    state = (await context.snapshot(board)).state
    return await carry_out(context, sender.actor, board, state, data, sender.wait)


async def carry_out(
    context: ApiContext,
    actor: Actor,
    board: int,
    state: MatchState,
    asked: AnyAsked,
    wait: float,
) -> Answered:
    """Carry out a command in a match that is in this state, and return its outcome."""
    return await send(context, await context.command(actor, board, state, action_of(asked)), wait)


class Revealing(RequestBody, frozen=True):
    """A text that a player has committed to."""

    text: RevealedText
    """The text, in hex."""


@api.post(
    "/api/matches/{board:int}/reveal",
    "Reveal a text for a draw",
    ANYBODY,
    waits=True,
)
@refuses(
    Code.UNKNOWN_BOARD,
    Code.MATCH_OVER,
    Code.TOO_EARLY,
    Code.TOO_LATE,
    Code.WRONG_TEXT,
    Code.TIME_OVER,
    Code.TOO_MANY_REFUSALS,
    Code.BUSY,
)
async def reveal_text(
    board: BoardNumber, data: JSONBody[Revealing], context: Context, wait: Wait = WAIT_SECONDS
) -> Answered:
    """Reveal the text that a player has committed to.

    This needs no token, because only the player who committed to the text knows it.
    """
    state = (await context.match(board)).state
    sent = reveal_command(board, state, read_text(data.text))
    return await send(context, MatchCommand(sent, state.ply), wait)


@api.get(
    "/api/matches/{board:int}/commands/{command:str}",
    "The outcome of a command",
    Scope.PLAY,
    waits=True,
)
@refuses(Code.NOT_FOUND, Code.NOT_A_PLAYER)
async def command_outcome(
    board: BoardNumber, command: CommandNumber, own: Own, request: AnyRequest
) -> Response[Answered]:
    """Return the outcome of a command, whether it was accepted or refused; 404 until there is one.

    Only the players of the match may see it. The Location header of a 202 has this address. The
    message is in the language that `Accept-Language` asks for, English or German.
    """
    state = (await own.context.snapshot(board)).state
    id_ = bytes.fromhex(command)
    (stored,) = await own.context.store.outcomes([(board, id_)])
    if state.started:
        seat_of(own.account, state)
    if stored is None:
        raise Refusal(Code.NOT_FOUND, "no command of this id has an outcome in this match")
    outcome = parse(stored)
    decided = DecidedCommand(board, id_, outcome)
    language = wording(wanted_language(request.headers.get("accept-language", "")))
    headers = headers_of_language(outcome.text, language)
    if not outcome.accepted:
        with suppress(OutcomePending):  # then it has no receipt yet
            await own.context.gateway.confirmed(outcome)
            return await _with_receipt(own.context, decided, headers, language)
        return Response(answered(decided, None, language), headers=headers)
    with outcome_at(board, id_):
        await own.context.gateway.confirmed(finish(own.app, outcome))
        return await _with_receipt(own.context, decided, headers)


async def _with_receipt(
    context: ApiContext,
    decided: DecidedCommand,
    headers: dict[str, str],
    language: Translation = ENGLISH,
) -> Response[Answered]:
    receipt = await context.receipt(decided)
    return Response(answered(decided, receipt, language), headers=headers)


def action_of(asked: AnyAsked) -> Action:
    """Return the action that the body of a request describes."""
    match asked:
        case Move():
            return MoveAction(asked.move, asked.ply)
        case Offer():
            return OfferAction(asked.kind)
        case Accept():
            return AcceptAction(DrawPart(asked.entropy, asked.commitment))
        case Reveal():
            return RevealAction(asked.text)
        case _:
            return PLAIN_ACTIONS[str(asked.__struct_config__.tag)]
