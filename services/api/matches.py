"""Matches to look at: one match, any ply of it, its board as a picture and as text."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from litestar import Request, Response, get
from litestar.params import Parameter

from domain.drawing import draw_text
from domain.drawing.svg import draw_svg
from domain.errors import Code, Refusal
from domain.match.record import Snapshot, unpack_snapshot
from domain.match.state import MatchState, position_at
from domain.rules import pinned
from services.api.commands import BoardNumber
from services.api.hand import Hand
from services.api.views import Match, Place, match_view, place_view
from services.language.boards import state_of

AnyRequest = Request[Any, Any, Any]

_PRIVATE: Final = "no-cache"
_FOREVER: Final = "public, max-age=31536000, immutable"

Ply = Annotated[
    int | None,
    Parameter(ge=0, le=1_000_000, description="the number of moves played; the last without it"),
]
Legal = Annotated[bool, Parameter(description="whether the legal moves are listed")]


@get("/api/matches/{board:int}", sync_to_thread=True, summary="One match as it stands")
def show_match(
    request: AnyRequest,
    board: BoardNumber,
    hand: Hand,
    legal: Legal = True,  # noqa: FBT002
) -> Response[Match | None]:
    """Give a match: players, position, legal moves, clocks, offers, result."""
    snapshot = _snapshot(hand, board)
    etag = f'"{snapshot.head.hex()[:32]}{"" if legal else "-"}"'
    headers = {"ETag": etag, "Cache-Control": _PRIVATE}
    # the clocks go on meanwhile, but what they show follows from what was sent
    if etag in request.headers.get("if-none-match", ""):
        return Response(None, status_code=304, headers=headers)
    names = hand.parts.accounts.name_of(snapshot.state.seats)
    now = hand.parts.store.now()
    return Response(match_view(board, snapshot, names, now, legal=legal), headers=headers)


@get(
    "/api/matches/{board:int}/plies/{ply:int}",
    sync_to_thread=True,
    summary="A match at one ply",
)
def show_ply(
    board: BoardNumber,
    ply: Annotated[int, Parameter(ge=0, le=1_000_000)],
    hand: Hand,
    legal: Legal = True,  # noqa: FBT002
) -> Place:
    """Give the position after so many moves, by replay; 0 is the start."""
    state = state_of(hand.parts, board)
    return place_view(state, _read_ply(board, state, ply), legal=legal)


@get(
    "/api/matches/{board:int}/board.svg",
    sync_to_thread=True,
    summary="A board as a picture",
    media_type="image/svg+xml",
)
def show_svg(board: BoardNumber, hand: Hand, ply: Ply = None) -> Response[str]:
    """Draw a board, as it stands or stood, with the last move marked."""
    state, position, at = _at(hand, board, ply)
    last = state.moves_of(at)[-1] if at else ""
    drawing = draw_svg(pinned(state.rules), position, _names(hand, state), last=last)
    return Response(drawing, media_type="image/svg+xml", headers={"Cache-Control": _PRIVATE})


@get(
    "/api/matches/{board:int}/board.txt",
    sync_to_thread=True,
    summary="A board as text",
    media_type="text/plain",
)
def show_text(
    board: BoardNumber,
    hand: Hand,
    ply: Ply = None,
    display: Annotated[
        str, Parameter(max_length=24, description="the game's first without it")
    ] = "",
) -> Response[str]:
    """Draw a board as text, as it stands or stood."""
    state, position, _ = _at(hand, board, ply)
    rules = pinned(state.rules)
    drawing = draw_text(rules, position, display or rules.displays[0], _names(hand, state))
    return Response(f"{drawing}\n", media_type="text/plain; charset=utf-8")


def _snapshot(hand: Hand, board: int) -> Snapshot:
    state_of(hand.parts, board)  # refuses what can't be shown
    return unpack_snapshot(hand.parts.store.snapshots([board])[0])


def _at(hand: Hand, board: int, ply: int | None) -> tuple[MatchState, Any, int]:
    state = state_of(hand.parts, board)
    at = _read_ply(board, state, state.ply if ply is None else ply)
    if state.unplaced:
        raise Refusal(Code.NOT_STARTED, "the match waits for consent, and has no board yet")
    return state, position_at(state, at), at


def _read_ply(board: int, state: MatchState, ply: int) -> int:
    if ply > state.ply:
        raise Refusal(
            Code.UNKNOWN_PLY, f"match {board} stands at #{state.ply}; there is no #{ply} yet"
        )
    if state.unplaced:
        raise Refusal(Code.NOT_STARTED, "the match waits for consent, and has no position yet")
    return ply


def _names(hand: Hand, state: MatchState) -> Sequence[str]:
    return [name or "a former player" for name in hand.parts.accounts.name_of(state.seats)]
