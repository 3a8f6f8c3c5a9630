"""Drafts: moves that a player submits for a look, and plays by confirming them."""

from typing import Annotated, Any

import msgspec
from litestar.params import JSONBody

from domain.errors import Code
from domain.match.decision import seat_of
from domain.rules import rules_by_id
from infra.people.tokens import Scope
from services.app import drafts
from services.app.matches import load_state
from services.app.receipts import Answered
from services.http.api.auth import Own
from services.http.api.bodies import RequestBody, Sender
from services.http.api.declared import CHECKED_MOVE_ERRORS, MOVE_ERRORS, ApiRoutes, refuses
from services.http.api.routes.commands import BoardNumber

api = ApiRoutes("drafts")


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


@api.get("/api/matches/{board:int}/draft", "Your draft", Scope.READ)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.NO_DRAFT)
def show_draft(board: BoardNumber, own: Own) -> OwnDraft:
    """Return your draft, if it can still be played; nobody else can see it."""
    account, state = own.account, load_state(own.app, board)
    seat_of(account, state)
    draft = drafts.draft_of(own.app, account, board, state)
    if draft is None:
        raise drafts.no_draft(board)
    return OwnDraft(board, draft.text, draft.ply)


@api.put("/api/matches/{board:int}/draft", "Submit a move", Scope.PLAY)
@refuses(*CHECKED_MOVE_ERRORS, Code.UNREADABLE_MOVE, Code.USAGE)
def submit_draft(board: BoardNumber, data: JSONBody[NewDraft], own: Own) -> PreviewedDraft:
    """Save a move as your draft, and return the position after it; nothing is played yet.

    It replaces an earlier draft in the match.
    """
    actor, state = own.actor(), load_state(own.app, board)
    draft = drafts.submit(own.app, actor, board, state, data.move)
    position = rules_by_id(state.rules).public_json(draft.position)
    return PreviewedDraft(board, draft.text, draft.ply, position)


@api.delete("/api/matches/{board:int}/draft", "Drop your draft", Scope.PLAY)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER)
def drop_draft(board: BoardNumber, own: Own) -> None:
    """Drop your draft, if there is one."""
    drafts.drop(own.app, own.actor(), board, load_state(own.app, board))


@api.post(
    "/api/matches/{board:int}/draft/confirm",
    "Play your draft",
    Scope.PLAY,
    waits=True,
)
@refuses(*MOVE_ERRORS, Code.NO_DRAFT)
async def confirm_draft(board: BoardNumber, sender: Sender) -> Answered:
    """Play your draft, and return the outcome of the move once it is durable."""
    state = (await sender.context.match(board)).state
    return await sender.submit(drafts.confirm(sender.app, sender.actor, board, state))
