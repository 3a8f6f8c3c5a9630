"""Matches to look at: one match, any ply of it, its board as a picture and as text."""

import asyncio
from typing import Annotated, Any, Final

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from domain.errors import Code
from domain.match.record import Snapshot
from domain.match.state import MatchState
from domain.rules import pinned
from services.api.answers import refuses
from services.api.bodies import TEXT
from services.api.caching import Tag
from services.api.commands import BoardNumber
from services.api.context import ApiContext
from services.api.views import Match, Place, match_view, place_view
from services.api.visitors import WEIGHT
from services.app.games import read_display
from services.app.matches import board_svg, board_text, check_ply, state_of
from services.app.names import names_by_seat

AnyRequest = Request[Any, Any, Any]

SVG: Final = "image/svg+xml"

_TAGS: Final = ["matches"]

Ply = Annotated[
    int | None,
    QueryParameter(
        ge=0, le=1_000_000, description="the number of moves played; the last without it"
    ),
]
Legal = Annotated[bool, QueryParameter(description="whether the legal moves are listed")]


@get(
    "/api/matches/{board:int}",
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_BOARD, tagged=True),
    summary="One match as it stands",
)
async def show_match(
    request: AnyRequest,
    board: BoardNumber,
    context: NamedDependency[ApiContext],
    legal: Legal = True,  # noqa: FBT002
) -> Response[Match]:
    """Return a match: players, position, legal moves, clocks, offers, result."""
    snapshot = await context.match(board)
    return await asyncio.to_thread(_shown, request, context, board, snapshot, legal)


def _shown(
    request: AnyRequest,
    context: ApiContext,
    board: int,
    snapshot: Snapshot,
    legal: bool,  # noqa: FBT001 - called in one place
) -> Response[Match]:
    names = context.app.accounts.name_of(snapshot.state.seats)
    # the clocks run on, but the client can compute what they show from what it has
    tag = Tag("match", snapshot.head, names, legal)
    if tag.is_known(request):
        return tag.unchanged()
    shown = match_view(board, snapshot, names, context.app.store.now(), legal=legal)
    return Response(shown, headers=tag.headers)


@get(
    "/api/matches/{board:int}/plies/{ply:int}",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(Code.UNKNOWN_BOARD, Code.UNKNOWN_PLY, Code.NOT_STARTED, tagged=True),
    summary="A match at one ply",
)
def show_ply(
    request: AnyRequest,
    board: BoardNumber,
    ply: Annotated[
        int, PathParameter(ge=0, le=1_000_000, description="the number of moves played")
    ],
    context: NamedDependency[ApiContext],
    legal: Legal = True,  # noqa: FBT002
) -> Response[Place]:
    """Return the position after so many moves, by replay; 0 is the start."""
    state = state_of(context.app, board)
    at = check_ply(board, state, ply)
    tag = Tag("ply", _played(state, at), legal)
    if tag.is_known(request):
        return tag.unchanged()
    return Response(place_view(state, at, legal=legal), headers=tag.headers)


@get(
    "/api/matches/{board:int}/board.svg",
    sync_to_thread=True,
    tags=_TAGS,
    opt={WEIGHT: 2} | refuses(Code.UNKNOWN_BOARD, Code.UNKNOWN_PLY, Code.NOT_STARTED, tagged=True),
    summary="A board as a picture",
    media_type=SVG,
)
def show_svg(
    request: AnyRequest, board: BoardNumber, context: NamedDependency[ApiContext], ply: Ply = None
) -> Response[str]:
    """Draw a board, as it stands or stood, with the last move marked."""
    state, at = _at(context, board, ply)
    names = names_by_seat(context.app, state.seats)
    tag = Tag("svg", _played(state, at), names)
    if tag.is_known(request):
        return tag.unchanged()
    return Response(board_svg(state, at, names), media_type=SVG, headers=tag.headers)


@get(
    "/api/matches/{board:int}/board.txt",
    sync_to_thread=True,
    tags=_TAGS,
    opt=refuses(
        Code.UNKNOWN_BOARD, Code.UNKNOWN_PLY, Code.NOT_STARTED, Code.BAD_OPTION, tagged=True
    ),
    summary="A board as text",
    media_type=TEXT,
)
def show_text(
    request: AnyRequest,
    board: BoardNumber,
    context: NamedDependency[ApiContext],
    ply: Ply = None,
    display: Annotated[
        str,
        QueryParameter(max_length=24, description="such as `small`; the game's first without it"),
    ] = "",
) -> Response[str]:
    """Draw a board as text, as it stands or stood."""
    state, at = _at(context, board, ply)
    names = names_by_seat(context.app, state.seats)
    display = display and read_display(pinned(state.rules), display)
    tag = Tag("text", _played(state, at), names, display)
    if tag.is_known(request):
        return tag.unchanged()
    return Response(
        f"{board_text(state, at, names, display)}\n", media_type=TEXT, headers=tag.headers
    )


def _played(state: MatchState, at: int) -> tuple[object, ...]:
    """Return all that a position depends on: moves may be taken back, so a ply alone does not tell."""
    played = state.rules, state.options, state.setup, state.seats, state.moves_of(at), state.out
    return *played, state.result if at == state.ply else None


def _at(context: ApiContext, board: int, ply: int | None) -> tuple[MatchState, int]:
    state = state_of(context.app, board)
    return state, check_ply(board, state, state.ply if ply is None else ply)
