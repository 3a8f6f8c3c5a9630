"""The analysis of a match: its chart, its turning points, and the better lines."""

from typing import Annotated

from litestar import Response
from litestar.params import PathParameter, QueryParameter
from litestar.response import Redirect

from domain.engine.turning_points import turning_points
from domain.errors import Code, Refusal
from domain.match.state import position_at
from domain.sentences import text_in
from infra.store.analyses import StoredAnalysis
from services.app.analyses import analysis_of, score_bound, start_analysis
from services.app.sentences import SAY
from services.http.web.analysis.chart import draw_analysis
from services.http.web.boards.board_view import is_turned
from services.http.web.declared import Pages
from services.http.web.match.view import MatchView
from services.http.web.params import (
    BoardNumber,
    ContextDependency,
    Own,
    VisitorDependency,
)
from services.http.web.render import redirect_to, render
from services.http.web.replay.variations import Variation
from services.words.endings import said_result

pages = Pages()

MoveNumber = Annotated[int, PathParameter(ge=1, le=1_000_000)]
Step = Annotated[int, QueryParameter(ge=0, le=1_000)]


@pages.get("/m/{board:int}/analysis", weight=2)
def show_match_analysis(
    board: BoardNumber, context: ContextDependency, visitor: VisitorDependency
) -> Response[str]:
    """Show the analysis of a match, how far it is, or a button that asks for it."""
    table = MatchView.of(context, board, visitor)
    ended = None
    try:
        found = analysis_of(context.app, board, table.state)
    except Refusal as refused:
        if refused.code != Code.UNAVAILABLE:
            raise
        found, ended = None, refused.text
    whole = found if isinstance(found, StoredAnalysis) else None
    positions = whole.positions if whole else ()
    points = turning_points(positions)
    return render(
        "analysis.html",
        visitor,
        table=table,
        said=said_result(table.state, table.seat, table.names, visitor.wording)
        if table.state.result
        else None,
        progress=None if whole else found,
        ended=ended,
        positions=positions,
        points=points,
        tipped={point.number for point in points},
        plot=draw_analysis(f"/m/{board}", table.names, positions, points, visitor.wording),
        bound=text_in(score_bound(table.state), visitor.wording) if whole else "",
    )


@pages.post("/m/{board:int}/analysis")
def request_match_analysis(board: BoardNumber, own: Own) -> Redirect:
    """Ask for the analysis of a match."""
    table = MatchView.of(own.context, board, own.visitor)
    start_analysis(own.app, own.account, board, table.state)
    return redirect_to(f"/m/{board}/analysis")


@pages.get("/m/{board:int}/analysis/{move:int}", weight=2)
def show_better_line(
    board: BoardNumber,
    move: MoveNumber,
    context: ContextDependency,
    visitor: VisitorDependency,
    step: Step = 1,
) -> Response[str]:
    """Show the better line that begins in place of a move, after so many moves of it."""
    table = MatchView.of(context, board, visitor)
    found = analysis_of(context.app, board, table.state)
    before = found.positions[move - 1 : move] if isinstance(found, StoredAnalysis) else ()
    if not before or not before[0].better:
        raise Refusal(Code.NOT_FOUND, SAY("no-better-line", board=board, move=move))
    line, ply = before[0].better, move - 1
    step = min(step, len(line))
    shown = Variation.of(
        table.rules,
        position_at(table.state, ply),
        table.names,
        " ".join(line[:step]),
        f"/m/{board}/{ply}/if",
        language=visitor.wording,
    )
    last = table.state.first_moves(ply)[-1] if ply else ""
    return render(
        "better.html",
        visitor,
        table=table,
        number=move,
        played=before[0].move,
        moves=line,
        step=step,
        line=shown,
        shown=shown.shown(
            last,
            position_at(table.state, ply - 1) if ply else None,
            turned=is_turned(visitor.display, table.seat),
        ),
    )
