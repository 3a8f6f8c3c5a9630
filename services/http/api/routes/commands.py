"""Commands in a match: `POST /api/matches/{board}/commands`."""

import asyncio
from functools import partial
from typing import Annotated, Final

from litestar import Response
from litestar.params import JSONBody, PathParameter

from domain.errors import Code
from domain.match.decision import seat_of
from domain.match.state import MatchState
from domain.tournament.state import TournamentState
from infra.languages.wording import wording
from infra.people.tokens import Scope
from infra.store.outcomes import parse
from services.app.commands import Action, RevealedText, act
from services.app.draws import read_text, reveal_command
from services.app.play import WAIT_SECONDS, give
from services.app.receipts import NO_OUTCOME, Answered, check_sent
from services.http.api.auth import AnyRequest, Context, Own
from services.http.api.bodies import RequestBody, Sender, Wait
from services.http.api.declared import ANYBODY, MOVE_ERRORS, ApiRoutes, refuses
from services.http.requests import headers_of_language, wanted_language

BoardNumber = Annotated[int, PathParameter(ge=1, le=10**15, description="the match's number")]
CommandNumber = Annotated[
    str, PathParameter(pattern="^[0-9a-f]{32}$", description="the command's id")
]
api = ApiRoutes("commands")


COMMANDS_PATH: Final = "/api/matches/{board:int}/commands"


@api.post(COMMANDS_PATH, "Send a command", Scope.PLAY, waits=True)
@refuses(
    *MOVE_ERRORS,
    Code.UNREADABLE_MOVE,
    Code.SANCTIONED,
    Code.UNKNOWN_OFFER,
    Code.BAD_OPTION,
    Code.WRONG_TEXT,
    Code.ALREADY_STARTED,
    Code.OFFER_STANDS,
    Code.NO_OFFER,
    Code.NOT_PAUSED,
    Code.TOO_EARLY,
    Code.TOO_LATE,
    Code.AGAINST_TERMS,
)
async def give_command(board: BoardNumber, data: JSONBody[Action], sender: Sender) -> Answered:
    """Carry out a command, and return its outcome once it is durable."""
    state = (await sender.context.snapshot(board)).state
    return await sender.submit(act(sender.app, sender.actor, board, state, data))


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
    reveal = partial(reveal_command, board, state, read_text(data.text))
    return await context.play.submit(give(context.app, reveal), wait, receipt=True)


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

    Only the players of the match may see it, and in a tournament the sender. The Location header of a 202 has this address. The
    message is in the language that `Accept-Language` asks for, English or German.
    """
    state = (await own.context.aggregate(board)).state
    id_ = bytes.fromhex(command)
    (stored,) = await own.context.store.outcomes([(board, id_)])
    if isinstance(state, MatchState) and state.started:
        seat_of(own.account, state)
    if stored is None:
        raise NO_OUTCOME
    outcome = parse(stored)
    language = wording(wanted_language(request.headers.get("accept-language", "")))
    found = Answered.of(board, id_, outcome, language)
    if isinstance(state, TournamentState):
        await asyncio.to_thread(check_sent, own.app, own.account, found)
    headers = headers_of_language(outcome.text, language)
    return Response(await own.context.play.known(found, outcome), headers=headers)
