"""Replays of matches: a ply, two plies compared, and variations from a ply."""

from typing import Any

from litestar import Request, Response

from domain.match.state import position_at
from domain.rules import game_by_key
from services.http.context import ApiContext
from services.http.web.boards.board_view import (
    contents_of_places,
    draw_match,
    is_turned,
    legal_moves_json,
    mark_places,
    preview_move,
)
from services.http.web.declared import Pages
from services.http.web.match.moves import MoveList, RecordedMark, position_words
from services.http.web.match.page import preview_json
from services.http.web.match.plates import plates_at
from services.http.web.match.view import MatchView
from services.http.web.params import (
    Asked,
    BoardNumber,
    LineText,
    MoveText,
    OnePly,
    OtherPly,
    Plan,
    Ply,
)
from services.http.web.render import redirect_to, render, rendered_macro
from services.http.web.replay.variations import Variation
from services.http.web.session import Visitor

pages = Pages()

AnyRequest = Request[Any, Any, Any]


@pages.get("/m/{board:int}/{ply:int}")
def show_ply(board: BoardNumber, ply: Ply, asked: Asked) -> Response[str]:
    """Show a match at a ply."""
    visitor = asked.visitor
    table = MatchView.of(asked.context, board, visitor)
    table.check_ply(ply)
    recorded = RecordedMark.of(asked.context, table)
    position = position_at(table.state, ply)
    own_below = visitor.display.below == "mine"
    return render(
        "replay.html",
        visitor,
        table=table,
        at=ply,
        says=position_words(table, visitor.wording, ply, position),
        around=plates_at(asked.app, table, ply, position, own_below=own_below),
        shown=table.shown_at(ply, turned=is_turned(visitor.display, table.seat)),
        recorded=recorded,
        listed=MoveList.of(asked.context, table, recorded),
    )


@pages.get("/m/{board:int}/compare", weight=2)
def compare(
    board: BoardNumber, asked: Asked, one: OnePly = 0, other: OtherPly = None
) -> Response[str]:
    """Show a match at two plies side by side, and their differences."""
    visitor = asked.visitor
    table = MatchView.of(asked.context, board, visitor)
    plies = [table.check_ply(one), table.check_ply(table.state.ply if other is None else other)]
    turned, language = is_turned(visitor.display, table.seat), visitor.wording
    boards = [
        draw_match(table.state, ply, table.names, turned=turned, language=language) for ply in plies
    ]
    was, now = map(contents_of_places, boards)
    places = [place for place in dict.fromkeys((*was, *now)) if was.get(place) != now.get(place)]
    marked = [mark_places(svg, places, game_by_key(table.rules.key).ring_percent) for svg in boards]
    return render(
        "compare.html",
        visitor,
        table=table,
        plies=plies,
        boards=marked,
        says=[
            position_words(table, visitor.wording, ply, position_at(table.state, ply))
            for ply in plies
        ],
        different=[(place, was.get(place, ""), now.get(place, "")) for place in places],
    )


# --- variations


def _variation(
    context: ApiContext, board: int, ply: int, text: str, visitor: Visitor, *, plan: bool = False
) -> tuple[MatchView, Variation]:
    table = MatchView.of(context, board, visitor)
    position = position_at(table.state, table.check_ply(ply))
    where = f"/m/{board}/{ply}/if"
    query = {"plan": "true"} if plan and table.plans and ply == table.state.ply else None
    return table, Variation.of(
        table.rules, position, table.names, text, where, query, language=visitor.wording
    )


@pages.get("/m/{board:int}/{ply:int}/if", weight=3)
def what_if(
    board: BoardNumber,
    ply: Ply,
    asked: Asked,
    line: LineText = "",
    move: MoveText = "",
    *,
    plan: Plan = False,
) -> Response[str]:
    """Show a variation from a ply of a match; the match does not change.

    To `plan` is to prepare conditional moves, which the page then guides through.
    """
    visitor = asked.visitor
    table, found = _variation(asked.context, board, ply, line, visitor, plan=plan)
    if move.strip():
        return redirect_to(found.url_with_move(move.strip()))
    last = table.state.first_moves(ply)[-1] if ply else ""
    before = position_at(table.state, ply - 1) if ply else None
    return render(
        "line.html",
        visitor,
        table=table,
        line=found,
        shown=found.shown(last, before, turned=is_turned(visitor.display, table.seat)),
        ply=ply,
        can_set=ply == table.state.ply and _has_conditional_move(table, found),
        plans=bool(found.query),
        answers=found.rules.to_move(found.position) == table.seat,
    )


def _has_conditional_move(table: MatchView, line: Variation) -> bool:
    """Return whether the visitor can set moves of a line from the present position as conditional moves."""
    movers = [line.rules.to_move(position) for position in line.positions[:-1]]
    return table.plans and table.seat in movers


@pages.get("/m/{board:int}/{ply:int}/if/board", weight=2)
def show_board_if(
    board: BoardNumber, ply: Ply, asked: Asked, line: LineText = ""
) -> dict[str, Any]:
    """Return the board after a variation, or at a ply if there is none, for the page's script."""
    visitor = asked.visitor
    table, found = _variation(asked.context, board, ply, line, visitor)
    last = table.state.first_moves(ply)[-1] if ply else ""
    before = position_at(table.state, ply - 1) if ply else None
    words = visitor.wording
    if not found.moves:
        says = position_words(table, words, ply, found.position)
    elif found.ending:
        says = f"{found.ending[:1].upper()}{found.ending[1:]}."
    else:
        says = words.gettext("%(name)s is to move.", name=found.turn) if found.turn else ""
    around = plates_at(
        asked.app,
        table,
        ply,
        found.position,
        tried=bool(found.moves),
        own_below=visitor.display.below == "mine",
    )
    return {
        "ply": ply,
        "svg": found.shown(
            last, before, plates=False, turned=is_turned(visitor.display, table.seat)
        ).svg,
        "plates": {
            "above": rendered_macro(visitor.wording, "_board.html", "plates_inside", around.above),
            "below": rendered_macro(visitor.wording, "_board.html", "plates_inside", around.below),
        },
        "says": says,
        "moves": found.moves,
        "seats": [found.rules.to_move(position) for position in found.positions[:-1]],
        "over": bool(found.ending),
    }


@pages.get("/m/{board:int}/{ply:int}/if/moves", weight=3)
def list_moves_if(
    board: BoardNumber, ply: Ply, asked: Asked, line: LineText = ""
) -> dict[str, Any]:
    """Return the legal moves after a variation."""
    _, found = _variation(asked.context, board, ply, line, asked.visitor)
    moves = legal_moves_json(found.rules, found.position, found.language)
    return {"ply": len(found.moves), **moves}


@pages.get("/m/{board:int}/{ply:int}/if/check", weight=3)
def check_if(
    board: BoardNumber, ply: Ply, asked: Asked, line: LineText = "", move: MoveText = ""
) -> Response[Any]:
    """Return the result of a move after a variation."""
    visitor = asked.visitor
    table, found = _variation(asked.context, board, ply, line, visitor)
    return preview_json(
        preview_move(
            found.rules,
            found.position,
            move.strip(),
            found.names,
            visitor.wording,
            turned=is_turned(visitor.display, table.seat),
        )
    )
