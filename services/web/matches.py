"""The page of a match: its board, whose turn it is, and what its players can do."""

from typing import Any, Final

from litestar import Request, Response, get

from domain.match.state import position_of
from services.api.context import ApiContext
from services.api.marks import Chat, marks
from services.app.conditional_moves import conditional_moves_of
from services.language.laying import lines_of
from services.web.boards import legal, tried
from services.web.pages import go, page
from services.web.params import BoardNumber, MoveText, TheContext, TheVisitor
from services.web.tables import Table, said_at
from services.web.visitors import Visitor

AnyRequest = Request[Any, Any, Any]


@get("/m/{board:int}", sync_to_thread=True)
def show_match(
    board: BoardNumber, context: TheContext, visitor: TheVisitor, move: MoveText = ""
) -> Response[str]:
    """Show a match as it stands; a move in the address is filled in, and not played."""
    return match_page(Table.of(context, board, visitor), context, visitor, move.strip())


@get("/m/{board:int}/chat", sync_to_thread=True)
def show_chat(board: BoardNumber, context: TheContext, visitor: TheVisitor) -> Response[Any]:
    """Show the chat, as a part of the page of the match."""
    table = Table.of(context, board, visitor)
    if not visitor.partial or table.seat is None:
        return go(f"/m/{board}#chat")
    return page("_chat.html", visitor, table=table, **_said(table, context))


def _said(table: Table, context: ApiContext) -> dict[str, Any]:
    """Return the chat for the page, and mark it as read."""
    # first, so that a line that comes while the page is made is news to it
    topic = Chat(table.board)
    mark, lines = marks(context.app, [topic])[topic], said_at(context, table)
    return {"chat": mark, "lines": lines, "unread": sum(line.new for line in lines)}


_UNSAID: Final[dict[str, Any]] = {"chat": "", "lines": [], "unread": 0}
"""Of a page that is asked for its other parts."""


def match_page(
    table: Table, context: ApiContext, visitor: Visitor, move: str = ""
) -> Response[str]:
    """Return the page of a match."""
    state = table.state
    score = None if state.unplaced else table.score(position_of(state))
    return page(
        "match.html",
        visitor,
        table=table,
        match=table.view,
        shown=table.shown(),
        move=move,
        **(_UNSAID if visitor.partial else _said(table, context)),
        laid=_conditional_moves(context, table),
        score=score,
        note=context.app.notes.get(visitor.account, table.board) if visitor.account else "",
        offers=_offers(table),
    )


def _conditional_moves(context: ApiContext, table: Table) -> list[str]:
    if table.seat is None:
        return []
    account = table.state.seats[table.seat]
    return lines_of(conditional_moves_of(context.app, account, table.board))


def _offers(table: Table) -> list[str]:
    """Return the kinds of offers that the visitor can make now."""
    state = table.state
    if not table.in_play or table.puzzle or state.offer is not None or state.unplaced:
        return []
    clock = state.clock
    kinds = ["draw"]
    if table.moves and table.moved:
        kinds.append("undo")
    kinds.append("abort")
    if clock is not None and not clock.paused:
        kinds.append("pause")
    return [*kinds, *table.rules.offers]


@get("/m/{board:int}/moves", sync_to_thread=True)
def list_moves(board: BoardNumber, context: TheContext, visitor: TheVisitor) -> dict[str, Any]:
    """Return the legal moves as the match stands."""
    table = Table.of(context, board, visitor)
    table.check_ply(table.state.ply)
    return {"ply": table.state.ply, **legal(table.rules, position_of(table.state))}


@get("/m/{board:int}/check", sync_to_thread=True)
def check_move(
    request: AnyRequest,
    board: BoardNumber,
    context: TheContext,
    visitor: TheVisitor,
    move: MoveText = "",
) -> Response[Any]:
    """Return the result of a move, or why it can't be played; nothing is played."""
    table = Table.of(context, board, visitor)
    table.check_ply(table.state.ply)
    found = tried(table.rules, position_of(table.state), move.strip(), table.names)
    if "application/json" in request.headers.get("accept", ""):
        return as_json(found)
    return page(
        "check.html", visitor, found=found, table=table, back=f"/m/{board}", shown=table.shown()
    )


def as_json(found: Any) -> Response[Any]:
    """Return the result of a move, for the page's script."""
    changes = [
        {"place": one.place, "was": one.was, "now": one.now, "kind": one.kind}
        for one in found.changes
    ]
    body = {
        "legal": found.legal,
        "move": found.move,
        "said": found.said,
        "svg": found.svg,
        "changes": changes,
    }
    return Response(body, media_type="application/json")
