"""The chart of an analysis: each player's expected share of the win, over the moves of the match."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from domain.engine.turning_points import AnalysedPosition, TurningPoint
from domain.game.svg import Markup as Drawn
from domain.game.svg import element, escape_text, number, text_line
from infra.languages.wording import Wording

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
