"""Downloads of a match: as JSON, as text, as pictures."""

from typing import Any, Final

import msgspec
from litestar import Response

from domain.drawing import draw_text
from domain.match.state import MatchState, positions
from services.app.exports import DocumentReader, export_match
from services.http.context import ApiContext
from services.http.web.declared import Pages
from services.http.web.display_settings import USUAL
from services.http.web.params import (
    BoardNumber,
    ContextDependency,
    PlainPicture,
    Ply,
    Theme,
    VisitorDependency,
)
from services.http.web.session import Visitor
from services.http.web.views.board_theme import with_board_theme
from services.http.web.views.match_view import MatchView
from services.words.boards import board_svg
from services.words.matches import summary
from services.words.named_match import NamedMatch

pages = Pages()

_FOR_A_DAY: Final = "private, max-age=86400"

_MAX_DRAWN: Final = 400
"""Moves of a match that are drawn, from its start."""


def attachment(text: str | bytes, kind: str, name: str) -> Response[Any]:
    """Return a file to download."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "private, no-cache",
    }
    return Response(text, media_type=kind, headers=headers)


def _load_with_position(context: ApiContext, board: int, visitor: Visitor) -> MatchView:
    """Return a match; raises `not-started` if it has no position yet."""
    table = MatchView.of(context, board, visitor)
    table.check_ply(0)
    return table


@pages.get("/m/{board:int}/match.json")
def export_json(
    board: BoardNumber, context: ContextDependency, visitor: VisitorDependency
) -> Response[Any]:
    """Return a match as JSON that `matchpost referee` reads, with its players and its result."""
    table = _load_with_position(context, board, visitor)
    state = table.state
    document = {
        "board": board,
        "game": table.rules.key,
        "rules": state.rules,
        "players": len(state.seats),
        "options": list(state.options),
        "setup": None if state.setup is None else msgspec.json.decode(state.setup),
        "moves": list(table.moves),
        "userids": list(table.userids),
        "result": None
        if state.result is None
        else {"winners": list(state.result.winners), "reason": state.result.reason},
    }
    data = msgspec.json.format(msgspec.json.encode(document), indent=2)
    return attachment(data, "application/json", f"match-{board}.json")


@pages.get("/m/{board:int}/document.json", weight=20)
def download_document(
    board: BoardNumber, context: ContextDependency, visitor: VisitorDependency
) -> Response[Any]:
    """Return a match as a match document, which proves its moves."""
    line = export_match(context.app, board, DocumentReader(visitor.account))
    return attachment(line, "application/json", f"match-{board}-document.json")


@pages.get("/m/{board:int}/match.txt", weight=10)
def export_text(
    board: BoardNumber, context: ContextDependency, visitor: VisitorDependency
) -> Response[Any]:
    """Return a match as text: its players, and every move with the board after it."""
    table = _load_with_position(context, board, visitor)
    scene = NamedMatch.of(context.app, board, table.state)
    more = [_cut_note(table.state)] if table.state.ply > _MAX_DRAWN else []
    text = "\n\n\n".join([summary(scene), *_boards_with_moves(table), *more])
    return attachment(f"{text}\n", "text/plain", f"match-{board}.txt")


def _boards_with_moves(table: MatchView) -> list[str]:
    rules, state = table.rules, _shorten(table.state)
    played = state.first_moves(state.ply)
    moves = ["the start", *(f"#{n}  {move}" for n, move in enumerate(played, 1))]
    drawings = [
        draw_text(rules, position, rules.displays[0], table.names) for position in positions(state)
    ]
    return [f"{move}\n\n{drawing}" for move, drawing in zip(moves, drawings, strict=True)]


@pages.get("/m/{board:int}/{ply:int}/board.svg", weight=2)
def show_picture(
    board: BoardNumber,
    ply: Ply,
    context: ContextDependency,
    visitor: VisitorDependency,
    plain: PlainPicture = False,  # noqa: FBT002 - in an address it has a name
    theme: Theme = USUAL.board,
) -> Response[Any]:
    """Draw a match at a ply, `plain` without its players; cached for a day, because it hardly ever changes."""
    table = MatchView.of(context, board, visitor)
    table.check_ply(ply)
    svg = with_board_theme(board_svg(table.state, ply, table.names, plates=not plain), theme)
    return Response(svg, media_type="image/svg+xml", headers={"Cache-Control": _FOR_A_DAY})


def _shorten(state: MatchState) -> MatchState:
    """Return the match, cut to the moves that are drawn."""
    if state.ply <= _MAX_DRAWN:
        return state
    moves = " ".join(state.first_moves(_MAX_DRAWN))
    return msgspec.structs.replace(state, ply=_MAX_DRAWN, moves=moves, position=None)


def _cut_note(state: MatchState) -> str:
    """Return a note that boards are missing, with the moves that are not drawn."""
    more = " ".join(state.first_moves(state.ply)[_MAX_DRAWN:])
    return f"Boards are drawn up to #{_MAX_DRAWN}; the {state.ply - _MAX_DRAWN} moves after it are:\n\n{more}"
