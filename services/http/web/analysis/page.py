"""The analysis of a match: its chart, its turning points, and the better lines.

The chart of an analysis: each player's expected share of the win, over the moves of the match.
"""

from collections.abc import Sequence
from typing import Annotated, Final

from litestar import Response
from litestar.params import PathParameter, QueryParameter
from litestar.response import Redirect
from markupsafe import Markup

from domain.engine.turning_points import AnalysedPosition, TurningPoint, turning_points
from domain.errors import Code, Refusal
from domain.game.painter import Markup as Drawn
from domain.game.painter import element, escape_text, number, text_line
from domain.match.state import position_at
from domain.sentences import text_in
from infra.languages.wording import Wording
from infra.store.analyses import StoredAnalysis
from services.app.matches import analysis_of, score_bound, start_analysis
from services.app.sentences import SAY
from services.http.web.boards.board_view import is_turned
from services.http.web.declared import Pages
from services.http.web.match.view import MatchView
from services.http.web.params import Asked, BoardNumber, Own
from services.http.web.render import redirect_to, render
from services.http.web.replay.variations import Variation
from services.words.endings import said_result

_WIDTH: Final = 640
_HEIGHT: Final = 284
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 16, 36, 56
_SHARES: Final = (0, 25, 50, 75, 100)
"""Grid lines, in percent."""
_TWO: Final = 2
_NAME: Final = 13
"""Characters of a name beside others."""


def draw_analysis(
    page: str,
    names: Sequence[str],
    positions: Sequence[AnalysedPosition],
    points: Sequence[TurningPoint],
    words: Wording,
) -> Markup:
    """Return the chart as SVG, in which each turning point is a link to the replay after its move.

    `page` is the path of the match. Of two players only the first has a line, because that of the other is its
    mirror image: the first wins at the top. Empty if there is no move.
    """
    if len(positions) <= 1:
        return Markup()
    last = len(positions) - 1
    shown = _curves(positions)
    inside: list[Drawn] = [
        element("title", escape_text(words.gettext("How the engine sees the match")))
    ]
    inside += [_grid_line(share) for share in _SHARES]
    inside += _legend(names, words)
    inside += [
        text_line("0", (_LEFT, _HEIGHT - 8), class_="tick"),
        text_line(
            words.ngettext("%(count)s move", "%(count)s moves", last),
            (_WIDTH - _RIGHT, _HEIGHT - 8),
            class_="tick end",
        ),
    ]
    for seat, curve in enumerate(shown):
        line = " ".join(
            f"{number(_x(at, last))},{number(_y(value))}" for at, value in enumerate(curve)
        )
        inside.append(element("polyline", class_=f"series series-{seat}", points=line))
    for point in points:
        curve = shown[point.seat if len(names) > _TWO else 0]
        inside.append(
            _mark(page, point, names, words, _x(point.number, last), _y(curve[point.number]))
        )
    return Markup(  # noqa: S704 - our own markup, with every text in it escaped
        element("svg", *inside, class_="plot", role="group", viewBox=f"0 0 {_WIDTH} {_HEIGHT}")
    )


def _curves(positions: Sequence[AnalysedPosition]) -> list[tuple[float, ...]]:
    """Return the lines: of the first of two players, of each of three, and in a puzzle also the score so far."""
    if positions[0].score:
        return [
            tuple(one.values[0] for one in positions),
            tuple(one.reached for one in positions),
        ]
    found = list(zip(*(one.values for one in positions), strict=True))
    return found[:1] if len(found) == _TWO else found


def _x(ply: int, last: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * ply / last


def _y(share: float) -> float:
    return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)


def _grid_line(percent: int) -> Drawn:
    down = _y(percent / 100)
    line = element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=down, y2=down, class_="grid")
    return element("g", line, text_line(f"{percent} %", (_LEFT - 8, down + 4), class_="tick end"))


def _legend(names: Sequence[str], words: Wording) -> list[Drawn]:
    """Return the words that say what a line means: at the top and at the bottom, or beside its pattern."""
    if len(names) == _TWO:
        return [
            text_line(
                words.gettext("%(name)s wins", name=names[0]), (_LEFT + 8, _TOP - 10), class_="tag"
            ),
            text_line(
                words.gettext("%(name)s wins", name=names[1]), (_LEFT + 8, _y(0) + 22), class_="tag"
            ),
        ]
    puzzle = (words.gettext("within reach"), words.gettext("so far"))
    lines = names if len(names) > 1 else puzzle
    found: list[Drawn] = []
    for at, name in enumerate(lines):
        left = _LEFT + at * (_WIDTH - _LEFT) / len(lines)
        short = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
        found += [
            element("line", x1=left, x2=left + 28, y1=14, y2=14, class_=f"series series-{at}"),
            text_line(short, (left + 36, 20), class_="tag"),
        ]
    return found


def _mark(
    page: str, point: TurningPoint, names: Sequence[str], words: Wording, x: float, y: float
) -> Drawn:
    before, after = round(100 * point.before), round(100 * point.after)
    said = words.gettext(
        "Move %(number)s, %(name)s: %(move)s, from %(before)s %% to %(after)s %%",
        number=point.number,
        name=names[point.seat],
        move=point.move,
        before=before,
        after=after,
    )
    return element(
        "a",
        element("title", escape_text(said)),
        element("circle", class_="tipped", r=7, cx=x, cy=y),
        href=f"{page}/{point.number}",
        aria_label=said,
    )


pages = Pages()

MoveNumber = Annotated[int, PathParameter(ge=1, le=1_000_000)]
Step = Annotated[int, QueryParameter(ge=0, le=1_000)]


@pages.get("/m/{board:int}/analysis", weight=2)
def show_match_analysis(board: BoardNumber, asked: Asked) -> Response[str]:
    """Show the analysis of a match, how far it is, or a button that asks for it."""
    visitor = asked.visitor
    table = MatchView.of(asked.context, board, visitor)
    ended = None
    try:
        found = analysis_of(asked.app, board, table.state)
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
    board: BoardNumber, move: MoveNumber, asked: Asked, step: Step = 1
) -> Response[str]:
    """Show the better line that begins in place of a move, after so many moves of it."""
    visitor = asked.visitor
    table = MatchView.of(asked.context, board, visitor)
    found = analysis_of(asked.app, board, table.state)
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
