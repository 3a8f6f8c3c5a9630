"""Matches played over again: any ply, two compared, and what would have been if."""

from typing import Any

from litestar import Request, Response, get

from domain.match.state import position_at
from services.api.context import ApiContext
from services.api.visitors import WEIGHT
from services.web.boards import drawn, legal, standing, tried
from services.web.lines import Line
from services.web.matches import as_json
from services.web.pages import go, page
from services.web.params import (
    BoardNumber,
    LineText,
    MoveText,
    OnePly,
    OtherPly,
    Ply,
    TheContext,
    TheVisitor,
)
from services.web.tables import Table
from services.web.visitors import Visitor

AnyRequest = Request[Any, Any, Any]


@get("/m/{board:int}/{ply:int}", sync_to_thread=True)
def show_ply(
    board: BoardNumber, ply: Ply, context: TheContext, visitor: TheVisitor
) -> Response[str]:
    """Show a match as it stood after so many moves."""
    table = Table.of(context, board, visitor)
    table.check_ply(ply)
    position = position_at(table.state, ply)
    mover = table.rules.to_move(position)
    return page(
        "replay.html",
        visitor,
        table=table,
        match=table.view,
        ply=ply,
        svg=drawn(table.state, ply, table.names),
        move=table.state.moves_of(ply)[-1] if ply else "",
        turn="" if mover is None else table.names[mover],
    )


@get("/m/{board:int}/compare", sync_to_thread=True, opt={WEIGHT: 2})
def compare(
    board: BoardNumber,
    context: TheContext,
    visitor: TheVisitor,
    one: OnePly = 0,
    other: OtherPly = None,
) -> Response[str]:
    """Show a match at two plies side by side, and what differs."""
    table = Table.of(context, board, visitor)
    plies = [table.check_ply(one), table.check_ply(table.state.ply if other is None else other)]
    boards = [drawn(table.state, ply, table.names) for ply in plies]
    was, now = map(standing, boards)
    places = [place for place in dict.fromkeys((*was, *now)) if was.get(place) != now.get(place)]
    return page(
        "compare.html",
        visitor,
        table=table,
        match=table.view,
        plies=plies,
        boards=boards,
        different=[(place, was.get(place, ""), now.get(place, "")) for place in places],
    )


# --- what if


def _line(
    context: ApiContext, board: int, ply: int, text: str, visitor: Visitor
) -> tuple[Table, Line]:
    table = Table.of(context, board, visitor)
    position = position_at(table.state, table.check_ply(ply))
    where = f"/m/{board}/{ply}/if"
    return table, Line.of(table.rules, position, table.names, text, where)


@get("/m/{board:int}/{ply:int}/if", sync_to_thread=True, opt={WEIGHT: 3})
def what_if(
    board: BoardNumber,
    ply: Ply,
    context: TheContext,
    visitor: TheVisitor,
    line: LineText = "",
    move: MoveText = "",
) -> Response[str]:
    """Show a line of moves from any ply of a match on; the match is not touched."""
    table, found = _line(context, board, ply, line, visitor)
    if move.strip():
        return go(found.then(move.strip()))
    last = table.state.moves_of(ply)[-1] if ply else ""
    before = position_at(table.state, ply - 1) if ply else None
    return page(
        "line.html",
        visitor,
        table=table,
        line=found,
        shown=found.shown(last, before),
        ply=ply,
        can_lay=_can_lay(table, ply, found),
    )


def _can_lay(table: Table, ply: int, line: Line) -> bool:
    """Return whether the line has a reply of the visitor's to what others may play."""
    state = table.state
    if ply != state.ply or not table.in_play or table.puzzle or len(line.moves) < 2:  # noqa: PLR2004
        return False
    movers = [line.rules.to_move(position) for position in line.positions[:-1]]
    return movers[0] != table.seat and table.seat in movers


@get("/m/{board:int}/{ply:int}/if/moves", sync_to_thread=True, opt={WEIGHT: 3})
def list_moves_if(
    board: BoardNumber, ply: Ply, context: TheContext, visitor: TheVisitor, line: LineText = ""
) -> dict[str, Any]:
    """Return the legal moves after a line."""
    _, found = _line(context, board, ply, line, visitor)
    return {"ply": len(found.moves), **legal(found.rules, found.position)}


@get("/m/{board:int}/{ply:int}/if/check", sync_to_thread=True, opt={WEIGHT: 3})
def check_if(
    board: BoardNumber,
    ply: Ply,
    context: TheContext,
    visitor: TheVisitor,
    line: LineText = "",
    move: MoveText = "",
) -> Response[Any]:
    """Return the result of a move after a line."""
    _, found = _line(context, board, ply, line, visitor)
    return as_json(tried(found.rules, found.position, move.strip(), found.names))
