"""The chart of an analysis: each player's expected share of the win, over the moves of the match."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from domain.drawing.svg.elements import Markup as Drawn
from domain.drawing.svg.elements import element, escape_text, number, text_line
from domain.engine.turning_points import AnalysedPosition, TurningPoint

_WIDTH: Final = 640
_HEIGHT: Final = 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 28, 36
_SHARES: Final = (0, 25, 50, 75, 100)
"""Grid lines, in percent."""
_TWO: Final = 2


def draw_analysis(
    page: str,
    names: Sequence[str],
    positions: Sequence[AnalysedPosition],
    points: Sequence[TurningPoint],
) -> Markup:
    """Return the chart as SVG, in which each turning point is a link to the replay after its move.

    `page` is the path of the match. Of two players only the first has a line, because that of the other is its
    mirror image: the first wins at the top. Empty if there is no move.
    """
    if len(positions) <= 1:
        return Markup()
    last = len(positions) - 1
    curves = list(zip(*(position.values for position in positions), strict=True))
    shown = curves[:1] if len(curves) == _TWO else curves
    inside: list[Drawn] = [element("title", escape_text("How the engine sees each position"))]
    inside += [_grid_line(share) for share in _SHARES]
    inside += _legend(names, len(curves))
    inside += [
        text_line("0", (_LEFT, _HEIGHT - 16), class_="tick"),
        text_line(
            f"{last} move{'' if last == 1 else 's'}",
            (_WIDTH - _RIGHT, _HEIGHT - 16),
            class_="tick end",
        ),
    ]
    for seat, curve in enumerate(shown):
        line = " ".join(
            f"{number(_x(at, last))},{number(_y(value))}" for at, value in enumerate(curve)
        )
        inside.append(element("polyline", class_=f"series series-{seat}", points=line))
    for point in points:
        curve = shown[point.seat] if len(shown) > 1 else shown[0]
        inside.append(_mark(page, point, names, _x(point.number, last), _y(curve[point.number])))
    return Markup(  # noqa: S704 - our own markup, with every text in it escaped
        element("svg", *inside, class_="plot", role="group", viewBox=f"0 0 {_WIDTH} {_HEIGHT}")
    )


def _x(ply: int, last: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * ply / last


def _y(share: float) -> float:
    return _TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM)


def _grid_line(percent: int) -> Drawn:
    down = _y(percent / 100)
    line = element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=down, y2=down, class_="grid")
    return element("g", line, text_line(f"{percent} %", (_LEFT - 8, down + 4), class_="tick end"))


def _legend(names: Sequence[str], curves: int) -> list[Drawn]:
    """Return the words at the top and at the bottom that say what a line means."""
    if curves == 1:
        return [text_line("the bound is reached", (_LEFT + 8, _TOP - 8), class_="tick")]
    if curves == _TWO:
        return [
            text_line(f"{names[0]} wins", (_LEFT + 8, _TOP - 8), class_="tag"),
            text_line(f"{names[1]} wins", (_LEFT + 8, _y(0) + 16), class_="tag"),
        ]
    found: list[Drawn] = []
    for seat, name in enumerate(names):
        left = _LEFT + seat * (_WIDTH - _LEFT) / curves
        found += [
            element("line", x1=left, x2=left + 28, y1=12, y2=12, class_=f"series series-{seat}"),
            text_line(name, (left + 36, 16), class_="tag"),
        ]
    return found


def _mark(page: str, point: TurningPoint, names: Sequence[str], x: float, y: float) -> Drawn:
    before, after = round(100 * point.before), round(100 * point.after)
    said = f"Move {point.number}, {names[point.seat]}: {point.move}, from {before} % to {after} %"
    return element(
        "a",
        element("title", escape_text(said)),
        element("circle", class_="tipped", r=7, cx=x, cy=y),
        href=f"{page}/{point.number}",
        aria_label=said,
    )
