"""Receipts and proofs: the server's promise about a leaf of its log, and the proof once it is published."""

from typing import Annotated

from litestar import Response
from litestar.params import PathParameter

from domain.errors import Code
from infra.people.tokens import Scope
from services.app.receipts import (
    PlacedLeaf,
    leaf_of_event,
    leaf_shown_to,
    proof_of,
    require_receipt,
)
from services.http.api.auth import Caller, Context, Own
from services.http.api.bodies import TEXT
from services.http.api.declared import ANYBODY, ApiRoutes, refuses
from services.http.api.routes.commands import BoardNumber, CommandNumber

api = ApiRoutes("receipts")

EventNumber = Annotated[int, PathParameter(ge=1, le=10**9, description="the seq of the event")]


@api.get(
    "/api/matches/{board:int}/commands/{command:str}/receipt",
    "The receipt of a command",
    Scope.PLAY,
    media_type=TEXT,
)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER)
def command_receipt(board: BoardNumber, command: CommandNumber, own: Own) -> Response[str]:
    """Return the receipt of a command in a match or a tournament: that of its first event, or of its refusal.

    Only the players of the match may see it, and in a tournament the sender.
    """
    return _text(require_receipt(own.app, board, _leaf(own, board, command)))


@api.get(
    "/api/matches/{board:int}/commands/{command:str}/proof",
    "The proof of a command",
    Scope.PLAY,
    weight=2,
    media_type=TEXT,
)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.NOT_PUBLISHED)
def command_proof(board: BoardNumber, command: CommandNumber, own: Own) -> Response[str]:
    """Return the proof that a command's first event, or its refusal, is in the published log.

    Only the players of the match may see it, and in a tournament the sender.
    """
    return _text(proof_of(own.app, board, _leaf(own, board, command)))


@api.get(
    "/api/matches/{board:int}/events/{seq:int}/receipt",
    "The receipt of an event",
    ANYBODY,
    media_type=TEXT,
)
@refuses(Code.UNKNOWN_BOARD)
def event_receipt(board: BoardNumber, seq: EventNumber, context: Context) -> Response[str]:
    """Return the server's signed promise that an event of a match or a tournament is in the published log, or soon will be.

    It is a signed note (C2SP), the same at any time. 404 if the server has no key to sign with.
    """
    return _text(require_receipt(context.app, board, leaf_of_event(context.app, board, seq)))


@api.get(
    "/api/matches/{board:int}/events/{seq:int}/proof",
    "The proof of an event",
    ANYBODY,
    weight=2,
    media_type=TEXT,
)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_PUBLISHED)
def event_proof(board: BoardNumber, seq: EventNumber, context: Context) -> Response[str]:
    """Return the proof that an event is in the published log: a file that is checked without the server.

    It is a tlog-proof (C2SP) with the event's bytes in its `extra` line. 404 with `not-published` and
    Retry-After while the event waits to be published, which takes a minute at most.
    """
    return _text(proof_of(context.app, board, leaf_of_event(context.app, board, seq)))


def _leaf(own: Caller, board: int, command: str) -> PlacedLeaf:
    return leaf_shown_to(own.app, own.account, board, bytes.fromhex(command))


def _text(text: str) -> Response[str]:
    return Response(text, media_type=TEXT)
