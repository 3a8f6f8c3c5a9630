"""Drafts: moves that a player submits for a look, and plays by confirming them."""

import asyncio
from typing import Annotated, Any, Final

import msgspec
from litestar import delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import JSONBody

from domain.errors import Code
from domain.match.decide import seat_of
from domain.rules import rules_by_id
from infra.people.tokens import Scope
from services.app import drafts
from services.app.answered import Answered
from services.app.matches import load_state
from services.http.api.auth import PLAY_SCOPE, READ_SCOPE, Caller
from services.http.api.bodies import RequestBody
from services.http.api.command_requests import CommandRequest
from services.http.api.declared_errors import MOVE_ERRORS, declare_errors
from services.http.api.routes.commands import BoardNumber
from services.http.context import ApiContext

_TAGS: Final = ["drafts"]


class NewDraft(RequestBody, frozen=True):
    """A move to look at before you play it."""

    move: Annotated[str, msgspec.Meta(max_length=512, examples=["m13-j7"])]
    """A move as in a command. With `#4` after it, it is accepted only at ply 4."""


class OwnDraft(msgspec.Struct, frozen=True):
    """A move that you have submitted and not played yet."""

    board: int
    """The number of the match."""
    move: str
    """The move in canonical form."""
    ply: int
    """The number of moves played before it."""


class PreviewedDraft(OwnDraft, frozen=True):
    """A move that you have submitted, and the position after it."""

    position: Any
    """The position after the move, in the game's own JSON form."""


@get(
    "/api/matches/{board:int}/draft",
    sync_to_thread=True,
    security=READ_SCOPE,
    tags=_TAGS,
    opt=declare_errors(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.NO_DRAFT),
    summary="Your draft",
)
def show_draft(
    board: BoardNumber, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> OwnDraft:
    """Return your draft, if it can still be played; nobody else can see it."""
    account, state = caller.require(Scope.READ), load_state(context.app, board)
    seat_of(account, state)
    draft = drafts.draft_of(context.app, account, board, state)
    if draft is None:
        raise drafts.no_draft(board)
    return OwnDraft(board, draft.text, draft.ply)


@put(
    "/api/matches/{board:int}/draft",
    sync_to_thread=True,
    security=PLAY_SCOPE,
    tags=_TAGS,
    opt=declare_errors(
        Code.UNKNOWN_BOARD,
        Code.NOT_A_PLAYER,
        Code.UNREADABLE_MOVE,
        Code.ILLEGAL_MOVE,
        Code.TOO_LONG,
        Code.USAGE,
        Code.MATCH_OVER,
        Code.NOT_STARTED,
        Code.STALE_PLY,
        Code.NOT_YOUR_TURN,
    ),
    summary="Submit a move",
)
def submit_draft(
    board: BoardNumber,
    data: JSONBody[NewDraft],
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
) -> PreviewedDraft:
    """Save a move as your draft, and return the position after it; nothing is played yet.

    It replaces an earlier draft in the match.
    """
    actor, state = caller.actor(Scope.PLAY), load_state(context.app, board)
    draft = drafts.submit(context.app, actor, board, state, data.move)
    position = rules_by_id(state.rules).public_json(draft.position)
    return PreviewedDraft(board, draft.text, draft.ply, position)


@delete(
    "/api/matches/{board:int}/draft",
    sync_to_thread=True,
    security=PLAY_SCOPE,
    tags=_TAGS,
    opt=declare_errors(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER),
    summary="Drop your draft",
)
def drop_draft(
    board: BoardNumber, context: NamedDependency[ApiContext], caller: NamedDependency[Caller]
) -> None:
    """Drop your draft, if there is one."""
    drafts.drop(context.app, caller.actor(Scope.PLAY), board, load_state(context.app, board))


@post(
    "/api/matches/{board:int}/draft/confirm",
    status_code=200,
    security=PLAY_SCOPE,
    tags=_TAGS,
    opt=declare_errors(
        *MOVE_ERRORS,
        Code.NO_DRAFT,
        waits=True,
    ),
    summary="Play your draft",
)
async def confirm_draft(
    board: BoardNumber,
    command_request: NamedDependency[CommandRequest],
) -> Answered:
    """Play your draft, and return the outcome of the move once it is durable."""
    context = command_request.context
    state = (await context.match(board)).state
    command = await asyncio.to_thread(
        drafts.confirm, context.app, command_request.actor, board, state
    )
    return await command_request.send(command)
