"""Powerdrain in SVG: the grid with its edges, the plugs with their voltages, the hands below."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from domain.drawing.svg.elements import Markup, Point, element, group, outline, text_line
from domain.drawing.svg.painter import (
    LOOKS,
    BoardInput,
    Picture,
    PlayerCaption,
    icon,
    piece,
    place,
    place_sentences,
)
from domain.games.powerdrain.json import volts_left
from domain.games.powerdrain.position import SIDES, plug_value
from domain.rules.checks import quantity

_SIGNS: Final = ("+", "\N{MINUS SIGN}")
_SECTION: Final = 86
_LEFT, _TOP = 54, 46  # the grid's corner
_GRID: Final = 5 * _SECTION
_BOTTOM: Final = _TOP + _GRID
_PLUG: Final = 76
_ROUND: Final = (26, 7)
"""The radius of the corners of each seat's plugs; plugs of a pool are in between."""
_LEFTWARD: Final = outline([(-34, -9), (-28, -14), (-28, -4)])
_UPWARD: Final = outline([(16, -34), (11, -28), (21, -28)])
_CHIP: Final = (46, 40)
_APART: Final = 51
"""The distance between plugs of a hand, and between lines of them."""
_LINE: Final = 8  # plugs of a hand


def _signed(volts: int) -> str:
    """Return a voltage with its sign; zero has none."""
    return f"{_SIGNS[volts < 0]}{abs(volts)}" if volts else "0"


def _box(name: str, width: float, height: float, rounded: float | None = None) -> Markup:
    return element(
        "rect", class_=name, x=-width / 2, y=-height / 2, width=width, height=height, rx=rounded
    )


# --- the grid


def _plug(name: str, seat: int, full: int, left: int) -> Markup:
    """Return a plug in its section: its digits with pointers to the edges, and its voltages."""
    return piece(
        f"{LOOKS[seat]} {'active' if left else 'drained'}",
        seat,
        _box("body", _PLUG, _PLUG, _ROUND[seat]),
        element("path", class_="pointer", d=_LEFTWARD),
        text_line(name[0], (-16, -9), class_="digit"),
        element("path", class_="pointer", d=_UPWARD),
        text_line(name[1], (16, -9), class_="digit"),
        text_line(_signed(full), (-20, 21), class_="value"),
        text_line(_signed(left), (17, 21), class_="left"),
        plug=name,
    )


def _section(name: str, at: Point, inside: Sequence[Markup], title: str, *, last: bool) -> Markup:
    hit = _box("hit section", _SECTION, _SECTION)
    mark = [_box("ring", _SECTION - 5, _SECTION - 5, 8)] if last else []
    return place(name, at, title, hit, *inside, *mark, last=last)


def _sections(position: Mapping[str, Any], last: str) -> Iterator[Markup]:
    rest = volts_left(position)
    for (row, left), (column, top) in product(
        enumerate(position["left"]), enumerate(position["top"])
    ):
        name, title, inside = f"{left}{top}", f"{left}{top}", []
        if name in position["grid"]:
            plug, seat = position["grid"][name]
            full = plug_value(plug, name) * (-1 if seat else 1)
            inside = [_plug(plug, seat, full, rest[name])]
            title = (
                f"{name}: {SIDES[seat]}'s plug {plug}, {_signed(full)}, {_signed(rest[name])} left"
            )
        at = _LEFT + _SECTION * (column + 0.5), _TOP + _SECTION * (row + 0.5)
        yield _section(name, at, inside, title, last=name == last)


def _edges(position: Mapping[str, Any]) -> Iterator[Markup]:
    for at, (left, top) in enumerate(zip(position["left"], position["top"], strict=True)):
        along = _SECTION * (at + 0.5)
        yield text_line(str(top), (_LEFT + along, _TOP - 22), class_="edge-digit")
        yield text_line(str(left), (_LEFT - 24, _TOP + along), class_="edge-digit")


# --- the plugs outside the grid


def _chip(name: str, at: Point, look: str, seat: int | None) -> Markup:
    return group(
        element("title", Markup(f"plug {name}")),
        _box("hit", _APART - 2, _APART - 2),
        _box("body", *_CHIP, 14 if seat is None else _ROUND[seat] * 0.6),
        text_line(name, (0, 0), class_="digit"),
        class_=f"plug {look}",
        data_plug=name,
        data_seat=None if seat is None else str(seat),
        at=at,
    )


def _lines_of(plugs: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    return ((at // _LINE, at % _LINE, plug) for at, plug in enumerate(plugs))


def _hands(position: Mapping[str, Any]) -> tuple[list[Markup], float]:
    """Return the plugs left, and the lower end of the drawing."""
    hands = [(None, position["pool"])] if "pool" in position else [*enumerate(position["hands"])]
    drawn, down = [], _BOTTOM + 18.0
    for seat, plugs in hands:
        look = "pool" if seat is None else LOOKS[seat]
        if seat is not None and plugs:
            beside = (_LEFT - 24, down + _APART / 2)
            drawn.append(text_line(_SIGNS[seat], beside, class_="edge-digit"))
        for line, column, plug in _lines_of(plugs):
            at = (_LEFT + _APART * (column + 0.5), down + _APART * (line + 0.5))
            drawn.append(_chip(plug, at, look, seat))
        down += _APART * -(-len(plugs) // _LINE)
    return drawn, down if drawn else _BOTTOM + 10.0


# --- the picture


def _player(seat: int, rest: Mapping[str, int]) -> PlayerCaption:
    own = [abs(left) for left in rest.values() if left * (-1 if seat else 1) > 0]
    sign = text_line(_SIGNS[seat], (0, 0), class_="digit")
    plug = icon(LOOKS[seat], _box("body", 32, 32, _ROUND[seat] * 0.5), sign)
    return PlayerCaption(plug, f"{len(own)} active, {quantity(sum(own), 'volt')}")


def _sentences(position: Mapping[str, Any]) -> tuple[str, ...]:
    edges = (f"{edge} edge {' '.join(map(str, position[edge]))}" for edge in ("left", "top"))
    grid = {
        f"{SIDES[seat]} in the grid": [
            f"{plug} in {section}"
            for section, (plug, own) in position["grid"].items()
            if own == seat
        ]
        for seat in (0, 1)
    }
    if "pool" in position:
        hands = {"Pool": position["pool"]}
    else:
        hands = {f"{SIDES[seat]} in hand": position["hands"][seat] for seat in (0, 1)}
    return (f"{', '.join(edges).capitalize()}.", *place_sentences({**grid, **hands}))


def paint(view: BoardInput) -> Picture:
    """Draw a position, each plug with its value and the voltage it has left."""
    position, rest = view.position, volts_left(view.position)
    hands, height = _hands(position)
    last = view.last.rpartition("-")[2]
    frame = element("rect", class_="frame", x=_LEFT, y=_TOP, width=_GRID, height=_GRID, rx=3)
    drawn = (*_edges(position), *_sections(position, last), frame, *hands)
    players = (_player(0, rest), _player(1, rest))
    return Picture(drawn, height, players, _sentences(position))
