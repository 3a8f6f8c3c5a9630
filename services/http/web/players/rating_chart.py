"""The chart of ratings: a line for each player, over the rated matches."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import msgspec
from markupsafe import Markup

from domain.game.svg import Markup as Drawn
from domain.game.svg import element, escape_text, number, text_line
from infra.languages.wording import Wording

_WIDTH: Final = 640
_HEIGHT: Final = 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 120, 12, 28
_SPARK_WIDTH, _SPARK_HEIGHT = 152, 40
_STEPS: Final = (10, 20, 50, 100, 200, 500, 1000)
_MAX_GRID_LINES: Final = 5
"""Grid lines at most."""


class ChartSeries(msgspec.Struct, frozen=True):
    """The data of one line."""

    name: str
    values: tuple[int, ...]
    """The value before the first match, and after each."""


def draw_sparkline(title: str, values: Sequence[int]) -> Markup:
    """Return a small line without a scale as SVG; empty without two values."""
    if len(values) < 2:  # noqa: PLR2004 - a line has two ends
        return Markup()
    low, high = min(values), max(*values, min(values) + 1)
    points = " ".join(
        f"{number(4 + _SPARK_WIDTH * at / (len(values) - 1))},"
        f"{number(4 + _SPARK_HEIGHT * (high - value) / (high - low))}"
        for at, value in enumerate(values)
    )
    last = points.rpartition(" ")[2].split(",")
    return Markup(  # noqa: S704 - our own markup, with every text in it escaped
        element(
            "svg",
            element("title", escape_text(title)),
            element("polyline", class_="series series-0", points=points),
            element("circle", class_="dot series-0", r=3, cx=float(last[0]), cy=float(last[1])),
            class_="plot spark",
            role="img",
            viewBox=f"0 0 {_SPARK_WIDTH + 8} {_SPARK_HEIGHT + 8}",
        )
    )


def draw_chart(title: str, series: Sequence[ChartSeries], words: Wording) -> Markup:
    """Return a line chart as SVG; empty if no series has two values."""
    drawn = [one for one in series if len(one.values) > 1]
    if not drawn:
        return Markup()
    low, high, step = _scale([value for one in drawn for value in one.values])
    longest = max(len(one.values) for one in drawn) - 1
    inside: list[Drawn] = [element("title", escape_text(title))]
    inside += [_grid_line(value, low, high) for value in range(low, high + 1, step)]
    inside += [
        text_line("0", (_LEFT, _HEIGHT - 8), class_="tick"),
        text_line(
            words.ngettext("%(count)s match", "%(count)s matches", longest),
            (_WIDTH - _RIGHT, _HEIGHT - 8),
            class_="tick end",
        ),
    ]
    ends = _spread_labels([_y_of(one.values[-1], low, high) for one in drawn])
    for at, (one, end) in enumerate(zip(drawn, ends, strict=True)):
        inside += _line(one, at, end, longest, low, high)
    return Markup(  # noqa: S704 - our own markup, with every text in it escaped
        element("svg", *inside, class_="plot", role="img", viewBox=f"0 0 {_WIDTH} {_HEIGHT}")
    )


def _scale(values: Sequence[int]) -> tuple[int, int, int]:
    """Return the lower end, the upper end and the step of the scale."""
    low, high = min(values), max(values)
    step = next((step for step in _STEPS if (high - low) / step < _MAX_GRID_LINES), _STEPS[-1])
    return low // step * step, -(-max(high, low + 1) // step) * step, step


def _y_of(value: int, low: int, high: int) -> float:
    return _TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)


def _grid_line(value: int, low: int, high: int) -> Drawn:
    down = _y_of(value, low, high)
    return element(
        "g",
        element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=down, y2=down, class_="grid"),
        text_line(str(value), (_LEFT - 8, down + 4), class_="tick end"),
    )


def _spread_labels(places: Sequence[float]) -> list[float]:
    """Move the labels at the ends of lines apart, so that none covers another."""
    order = sorted(range(len(places)), key=places.__getitem__)
    found = list(places)
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + 16)
    return found


def _line(one: ChartSeries, at: int, end: float, longest: int, low: int, high: int) -> list[Drawn]:
    room = _WIDTH - _LEFT - _RIGHT
    points = " ".join(
        f"{number(_LEFT + room * x / longest)},{number(_y_of(value, low, high))}"
        for x, value in enumerate(one.values)
    )
    last = _LEFT + room * (len(one.values) - 1) / longest
    return [
        element("polyline", class_=f"series series-{at}", points=points),
        element(
            "circle", class_=f"dot series-{at}", r=3, cx=last, cy=_y_of(one.values[-1], low, high)
        ),
        text_line(f"{one.name} {one.values[-1]}", (_WIDTH - _RIGHT + 8, end + 4), class_="tag"),
    ]
