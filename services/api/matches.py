"""Matches to look at: one match, any ply of it, its board as a picture and as text."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from domain.drawing import draw_text
from domain.drawing.svg.document import draw_svg
from domain.errors import Code, Refusal
from domain.match.record import Snapshot
from domain.match.state import MatchState, position_at
from domain.rules import pinned
from services.api.answers import refuses
from services.api.bodies import TEXT
from services.api.caching import Tag
from services.api.commands import BoardNumber
from services.api.context import ApiContext
from services.api.views import Match, Place, match_view, outcome_of, place_view
from services.api.visitors import WEIGHT
from services.language.boards import state_of

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
    # the clocks go on meanwhile, but what they show follows from what was sent
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
    at = _read_ply(board, state, ply)
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
    names = _names(context, state)
    tag = Tag("svg", _played(state, at), names)
    if tag.is_known(request):
        return tag.unchanged()
    return Response(_drawn(board, state, at, names), media_type=SVG, headers=tag.headers)


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
    names = _names(context, state)
    rules = pinned(state.rules)
    if display not in ("", *rules.displays):
        known = " or ".join(rules.displays)
        raise Refusal(Code.BAD_OPTION, f"there is no display {display!r}; it is {known}")
    tag = Tag("text", _played(state, at), names, display)
    if tag.is_known(request):
        return tag.unchanged()
    drawing = draw_text(rules, position_at(state, at), display or rules.displays[0], names)
    return Response(f"{drawing}\n", media_type=TEXT, headers=tag.headers)


def _drawn(board: int, state: MatchState, at: int, names: Sequence[str]) -> str:
    last = state.moves_of(at)[-1] if at else ""
    return draw_svg(
        pinned(state.rules),
        position_at(state, at),
        names,
        last=last,
        before=position_at(state, at - 1) if last else None,
        ended=outcome_of(board, state, names) if at == state.ply else None,
    )


def _played(state: MatchState, at: int) -> tuple[object, ...]:
    """Return all that a position depends on: moves may be taken back, so a ply alone does not tell."""
    played = state.rules, state.options, state.setup, state.seats, state.moves_of(at), state.out
    return *played, state.result if at == state.ply else None


def _at(context: ApiContext, board: int, ply: int | None) -> tuple[MatchState, int]:
    state = state_of(context.app, board)
    return state, _read_ply(board, state, state.ply if ply is None else ply)


def _read_ply(board: int, state: MatchState, ply: int) -> int:
    if ply > state.ply:
        raise Refusal(
            Code.UNKNOWN_PLY, f"match {board} stands at #{state.ply}; there is no #{ply} yet"
        )
    if state.unplaced:
        raise Refusal(Code.NOT_STARTED, "the match waits for consent, and has no position yet")
    return ply


def _names(context: ApiContext, state: MatchState) -> Sequence[str]:
    return [name or "a former player" for name in context.app.accounts.name_of(state.seats)]
