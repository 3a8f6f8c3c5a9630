"""Receipts and proofs: the server's promise about a leaf of its log, and the proof once it is published."""

from typing import Annotated, Final

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import PathParameter

from domain.errors import Code, Refusal
from domain.match.decide import seat_of
from infra.store.outcomes import parse
from services.app.matches import load_state
from services.app.receipts import (
    DecidedCommand,
    PlacedLeaf,
    leaf_of_command,
    leaf_of_event,
    proof_of,
    require_receipt,
)
from services.http.anonymous_limit import WEIGHT
from services.http.api.auth import PLAY_SCOPE, Caller
from services.http.api.bodies import TEXT
from services.http.api.declared_errors import declare_errors
from services.http.api.routes.commands import BoardNumber, CommandNumber
from services.http.context import ApiContext

_TAGS: Final = ["receipts"]

_PROOF_WEIGHT: Final = {WEIGHT: 2}

EventNumber = Annotated[int, PathParameter(ge=1, le=10**9, description="the seq of the event")]


@get(
    "/api/matches/{board:int}/events/{seq:int}/receipt",
    sync_to_thread=True,
    tags=_TAGS,
    opt=declare_errors(Code.UNKNOWN_BOARD),
    summary="The receipt of an event",
    media_type=TEXT,
)
def event_receipt(
    board: BoardNumber, seq: EventNumber, context: NamedDependency[ApiContext]
) -> Response[str]:
    """Return the server's signed promise that an event is in the published log, or soon will be.

    It is a signed note (C2SP), the same at any time. 404 if the server has no key to sign with.
    """
    leaf = leaf_of_event(context.app, board, seq)
    return _text(require_receipt(context.app, board, leaf))


@get(
    "/api/matches/{board:int}/events/{seq:int}/proof",
    sync_to_thread=True,
    tags=_TAGS,
    opt=declare_errors(Code.UNKNOWN_BOARD, Code.NOT_PUBLISHED) | _PROOF_WEIGHT,
    summary="The proof of an event",
    media_type=TEXT,
)
def event_proof(
    board: BoardNumber, seq: EventNumber, context: NamedDependency[ApiContext]
) -> Response[str]:
    """Return the proof that an event is in the published log: a file that is checked without the server.

    It is a tlog-proof (C2SP) with the event's bytes in its `extra` line. 404 with `not-published` and
    Retry-After while the event waits to be published, which takes a minute at most.
    """
    return _text(proof_of(context.app, board, leaf_of_event(context.app, board, seq)))


@get(
    "/api/matches/{board:int}/commands/{command:str}/receipt",
    sync_to_thread=True,
    security=PLAY_SCOPE,
    tags=_TAGS,
    opt=declare_errors(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER),
    summary="The receipt of a command",
    media_type=TEXT,
)
def command_receipt(
    board: BoardNumber,
    command: CommandNumber,
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
) -> Response[str]:
    """Return the receipt of a command: that of its first event, or of its refusal.

    Only the players of the match may see it.
    """
    leaf = _leaf(context, caller, board, command)
    return _text(require_receipt(context.app, board, leaf))


@get(
    "/api/matches/{board:int}/commands/{command:str}/proof",
    sync_to_thread=True,
    security=PLAY_SCOPE,
    tags=_TAGS,
    opt=declare_errors(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.NOT_PUBLISHED) | _PROOF_WEIGHT,
    summary="The proof of a command",
    media_type=TEXT,
)
def command_proof(
    board: BoardNumber,
    command: CommandNumber,
    context: NamedDependency[ApiContext],
    caller: NamedDependency[Caller],
) -> Response[str]:
    """Return the proof that a command's first event, or its refusal, is in the published log.

    Only the players of the match may see it.
    """
    return _text(proof_of(context.app, board, _leaf(context, caller, board, command)))


def _leaf(context: ApiContext, caller: Caller, board: int, command: str) -> PlacedLeaf:
    """Return the first leaf of a command, for a player of its match."""
    seat_of(caller.account, load_state(context.app, board))
    id_ = bytes.fromhex(command)
    stored = context.app.store.outcome(board, id_)
    if stored is None:
        raise Refusal(Code.NOT_FOUND, "no command of this id has an outcome in this match")
    return leaf_of_command(context.app, DecidedCommand(board, id_, parse(stored)))


def _text(text: str) -> Response[str]:
    return Response(text, media_type=TEXT)
