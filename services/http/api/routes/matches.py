"""Viewing a match: the match at any ply, and its board as a picture and as text."""

import asyncio
from typing import Annotated, Final, cast

from litestar import MediaType, Response
from litestar.params import PathParameter, QueryParameter

from domain.errors import Code
from domain.match.history import Snapshot
from domain.match.state import MatchState
from domain.rules import rules_by_id
from infra.audit.match_document import MatchDocument
from services.app.context import App
from services.app.exports import DocumentReader, export_game_text, export_match
from services.app.games import read_display
from services.app.matches import check_ply, load_state
from services.app.names import names_by_seat
from services.app.pictures import mailed_png, packed_drawing
from services.http.api.auth import AnyRequest, Context, viewer_of
from services.http.api.bodies import TEXT
from services.http.api.declared import ANYBODY, ApiRoutes, refuses
from services.http.api.match_json import Match, Place, match_json, ply_json
from services.http.api.routes.commands import BoardNumber
from services.http.context import ApiContext
from services.http.etag import ETag
from services.words.endings import TextBoard, board_svg, board_text, text_board

SVG_MEDIA_TYPE: Final = "image/svg+xml"
PNG_MEDIA_TYPE: Final = "image/png"

api = ApiRoutes("matches")

Ply = Annotated[
    int | None,
    QueryParameter(ge=0, le=1_000_000, description="the number of moves played; by default all"),
]
Display = Annotated[
    str,
    QueryParameter(
        max_length=24, description="a display of the game, such as `small`; by default its first"
    ),
]
Legal = Annotated[bool, QueryParameter(description="whether to list the legal moves")]


@api.get("/api/matches/{board:int}", "A match", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_BOARD)
async def show_match(
    request: AnyRequest,
    board: BoardNumber,
    context: Context,
    legal: Legal = True,  # noqa: FBT002
) -> Response[Match]:
    """Return a match: players, position, legal moves, clocks, offers, result."""
    snapshot = await context.match(board)
    return await asyncio.to_thread(_match_response, request, context, board, snapshot, legal)


def _match_response(
    request: AnyRequest,
    context: ApiContext,
    board: int,
    snapshot: Snapshot,
    legal: bool,  # noqa: FBT001 - called in one place
) -> Response[Match]:
    names = context.app.accounts.name_of(snapshot.state.seats)
    # without the running clocks, because the client can compute them from its copy
    tag = ETag("match", snapshot.head, names, legal)
    return tag.answer(
        request,
        lambda: match_json(board, snapshot, names, context.app.store.now(), legal=legal),
    )


@api.get(
    "/api/matches/{board:int}/export",
    "A match as a match document, with proofs",
    ANYBODY,
    weight=20,
    description="All events and refusals of the match as they are in the log, with proofs that a signed "
    "checkpoint covers them: docs/formats.md. `matchpost verify FILE` checks it without a server, and "
    "`matchpost referee` judges it as it is. The outcome of a refused command is left out, unless the "
    "token is its sender's and may read; so are the texts of claims and rulings, unless it is a player's or an "
    "arbiter's.",
)
@refuses(Code.UNKNOWN_BOARD, Code.DAMAGED, Code.UNAVAILABLE, Code.TOO_LONG)
def export_document(
    request: AnyRequest, board: BoardNumber, context: Context
) -> Response[MatchDocument]:
    """Return a match as a match document, one line of JSON."""
    line = export_match(context.app, board, DocumentReader(viewer_of(request)))
    return Response(cast("MatchDocument", line), media_type=MediaType.JSON)


@api.get(
    "/api/matches/{board:int}/game.txt",
    "A match as text: headers and numbered moves",
    ANYBODY,
    weight=2,
    tagged=True,
    media_type=TEXT,
    description="As chess programs have games in PGN, in the notation of the game: docs/formats.md. Nothing proves it. "
    "The name of a tournament that only members of a club see is in it for them alone.",
)
@refuses(Code.UNKNOWN_BOARD, Code.NOT_STARTED)
def show_game_text(request: AnyRequest, board: BoardNumber, context: Context) -> Response[str]:
    """Return a match as a game text."""
    text = export_game_text(context.app, board, viewer_of(request))
    return ETag("game-text", text).answer(request, lambda: text, TEXT)


@api.get("/api/matches/{board:int}/plies/{ply:int}", "A match at one ply", ANYBODY, tagged=True)
@refuses(Code.UNKNOWN_BOARD, Code.UNKNOWN_PLY, Code.NOT_STARTED)
def show_ply(
    request: AnyRequest,
    board: BoardNumber,
    ply: Annotated[
        int, PathParameter(ge=0, le=1_000_000, description="the number of moves played")
    ],
    context: Context,
    legal: Legal = True,  # noqa: FBT002
) -> Response[Place]:
    """Return the position after `ply` moves; 0 is the start."""
    state = load_state(context.app, board)
    at = check_ply(board, state, ply)
    tag = ETag("ply", _etag_of_ply(state, at), legal)
    return tag.answer(request, lambda: ply_json(state, at, legal=legal))


@api.get(
    "/api/matches/{board:int}/board.svg",
    "A board as a picture (SVG)",
    ANYBODY,
    weight=2,
    tagged=True,
    media_type=SVG_MEDIA_TYPE,
)
@refuses(Code.UNKNOWN_BOARD, Code.UNKNOWN_PLY, Code.NOT_STARTED)
def show_svg(
    request: AnyRequest, board: BoardNumber, context: Context, ply: Ply = None
) -> Response[str]:
    """Draw a board at the present or an earlier ply, with the last move marked."""
    state, at = _load_at(context.app, board, ply)
    names = names_by_seat(context.app, state.seats)
    tag = ETag("svg", _etag_of_ply(state, at), names)
    return tag.answer(request, lambda: board_svg(state, at, names), SVG_MEDIA_TYPE)


@api.get(
    "/api/matches/{board:int}/board.png",
    "A board as a picture (PNG)",
    ANYBODY,
    weight=10,
    tagged=True,
    media_type=PNG_MEDIA_TYPE,
)
@refuses(Code.UNKNOWN_BOARD, Code.UNKNOWN_PLY, Code.NOT_STARTED)
def show_png(
    request: AnyRequest, board: BoardNumber, context: Context, ply: Ply = None
) -> Response[bytes]:
    """Draw a board as a picture for programs that show no SVG, 640 pixels wide and in its light colours."""
    state, at = _load_at(context.app, board, ply)
    names = names_by_seat(context.app, state.seats)
    tag = ETag("png", _etag_of_ply(state, at), names)
    return tag.answer(
        request, lambda: mailed_png(packed_drawing(board_svg(state, at, names))), PNG_MEDIA_TYPE
    )


@api.get(
    "/api/matches/{board:int}/board.txt", "A board as text", ANYBODY, tagged=True, media_type=TEXT
)
@refuses(Code.UNKNOWN_BOARD, Code.UNKNOWN_PLY, Code.NOT_STARTED, Code.BAD_OPTION)
def show_text(
    request: AnyRequest,
    board: BoardNumber,
    context: Context,
    ply: Ply = None,
    display: Display = "",
) -> Response[str]:
    """Draw a board at the present or an earlier ply as text."""
    state, at = _load_at(context.app, board, ply)
    names = names_by_seat(context.app, state.seats)
    display = display and read_display(rules_by_id(state.rules), display)
    tag = ETag("text", _etag_of_ply(state, at), names, display)
    return tag.answer(request, lambda: f"{board_text(state, at, names, display)}\n", TEXT)


@api.get(
    "/api/matches/{board:int}/board.json",
    "A board as text, with its places",
    ANYBODY,
    weight=2,
    tagged=True,
)
@refuses(
    Code.UNKNOWN_BOARD,
    Code.UNKNOWN_PLY,
    Code.NOT_STARTED,
    Code.BAD_OPTION,
    Code.UNREADABLE_MOVE,
    Code.ILLEGAL_MOVE,
)
def show_text_board(
    request: AnyRequest,
    board: BoardNumber,
    context: Context,
    ply: Ply = None,
    display: Display = "",
    move: Annotated[
        str,
        QueryParameter(
            max_length=512, description="a move to preview: the board after it; nothing is played"
        ),
    ] = "",
) -> Response[TextBoard]:
    """Draw a board as text, and say where its places are, for a program that lets a player choose them."""
    state, at = _load_at(context.app, board, ply)
    names = names_by_seat(context.app, state.seats)
    tag = ETag("text-board", _etag_of_ply(state, at), names, display, move)
    return tag.answer(request, lambda: text_board(state, at, names, display, move))


def _etag_of_ply(state: MatchState, at: int) -> tuple[object, ...]:
    """Return all that a position depends on.

    A ply alone is not enough, because moves may be taken back.
    """
    played = state.rules, state.options, state.setup, state.seats, state.first_moves(at), state.out
    return *played, state.result if at == state.ply else None


def _load_at(app: App, board: int, ply: int | None) -> tuple[MatchState, int]:
    state = load_state(app, board)
    return state, check_ply(board, state, state.ply if ply is None else ply)
