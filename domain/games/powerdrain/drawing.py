"""Powerdrain as text and in SVG: the grid with its edges, the plugs in it, and the hands below.

Every plug is shown with its value and the voltage it has left.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import Any, Final

from domain.boards.pieces import PLACES_KEPT
from domain.game.painter import (
    LOOKS,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    escape_text,
    group,
    icon,
    number,
    outline,
    piece,
    place,
    place_sentences,
    text_line,
)
from domain.game.protocol import TextInput, TextPlace
from domain.games.powerdrain.grid import plug_value, volts_left
from domain.games.powerdrain.sentences import SAY, SIDES
from domain.sentences import Translation

# --- text

_ASCII_SIGNS: Final = "+-"
_EMPTY: Final = (" " * 7, " " * 7)
_RULE: Final = f"   {'-' * 41}"
_GRID_LINE: Final = 2
"""The first line of the grid's first row."""
_PLUG_NAME: Final = re.compile("[2468]{2}")


def _three_columns(volts: int) -> str:
    """Return a voltage with its sign, in three columns; zero has none."""
    return f"{volts:+}".ljust(3) if volts else " 0 "


def _section_lines(position: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return both lines of each section that holds a plug, seven columns wide."""
    left, sections = volts_left(position), {}
    for section, (plug, seat) in position["grid"].items():
        full = plug_value(plug, section) * (-1 if seat else 1)
        volts = f"{_three_columns(full)} {_three_columns(left[section])}"
        sections[section] = (f" <{plug[0]} {plug[1]}^ ", volts)
    return sections


def _beside(names: Sequence[str]) -> list[str]:
    """Return the text beside the grid for each player: side, sign and name."""
    named = names or ("", "")
    return [
        f"   {side} {sign} {name}".rstrip()
        for side, sign, name in zip(SIDES, _ASCII_SIGNS, named, strict=True)
    ]


def _plugs_left(position: Mapping[str, Any]) -> list[str]:
    """Return the lines of the hands or the pool; none when all plugs are in the grid."""
    if "pool" in position:
        hands = {"Pool": position["pool"]}
    else:
        labels = [f"{side} {sign}" for side, sign in zip(SIDES, _ASCII_SIGNS, strict=True)]
        hands = dict(zip(labels, position["hands"], strict=True))
    if not any(hands.values()):
        return []
    width = max(map(len, hands))
    return ["", *(f"{label:{width}}  {' '.join(hand)}".rstrip() for label, hand in hands.items())]


def draw(view: TextInput) -> str:
    """Draw a position, with the players' names if there are any; there is only one display."""
    position = view.position
    top, sections = position["top"], _section_lines(position)
    positive, negative = _beside(view.names)
    lines = [" " * 7 + (" " * 7).join(map(str, top)), _RULE + positive]
    for row, potential in enumerate(position["left"]):
        cells = [sections.get(f"{potential}{over}", _EMPTY) for over in top]
        plugs, volts = ("|".join(half) for half in zip(*cells, strict=True))
        beside = negative if row == 1 else ""
        lines += [f"{potential}  |{plugs}|{beside}", f"   |{volts}|", _RULE]
    return "\n".join([*lines, *_plugs_left(position)])


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each section is in the drawing, and each plug below it."""
    position = view.position
    for row, potential in enumerate(position["left"]):
        for across, over in enumerate(position["top"]):
            yield TextPlace(f"{potential}{over}", _GRID_LINE + 3 * row, 4 + 8 * across, 7, 2)
    below = _GRID_LINE + 3 * len(position["left"])
    for line, text in enumerate(_plugs_left(position), below):
        for plug in _PLUG_NAME.finditer(text):
            yield TextPlace(plug[0], line, plug.start(), 2)


# --- SVG

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
_LINE: Final = 8  # plugs of a hand
_CHIP: Final = (47, 42)
_APART: Final = _GRID / _LINE
"""The distance between plugs of a hand, and between lines of them: a line is as wide as the grid."""


def _signed(volts: int) -> str:
    """Return a voltage with its sign; zero has none."""
    return f"{_SIGNS[volts < 0]}{abs(volts)}" if volts else "0"


def _box(name: str, width: float, height: float, rounded: float | None = None) -> Markup:
    return element(
        "rect", class_=name, x=-width / 2, y=-height / 2, width=width, height=height, rx=rounded
    )


@cache
def _raised(width: float, height: float, rounded: float) -> tuple[Markup, ...]:
    """Return a plug's body with its shadow, and the light on its upper edge."""
    left, top, bend = 3 - width / 2, 3 - height / 2, max(rounded - 3, 2)
    lit = f"M{number(left + bend)} {number(top)}H{number(-left - bend)}"
    return (
        element(
            "rect",
            class_="shade",
            x=1 - width / 2,
            y=3 - height / 2,
            width=width,
            height=height,
            rx=rounded,
        ),
        _box("body", width, height, rounded),
        element("path", class_="glint", d=lit),
    )


# --- the grid


@lru_cache(PLACES_KEPT)
def _plug(name: str, seat: int, full: int, left: int) -> Markup:
    """Return a plug in its section: its digits with pointers to the edges, and its voltages."""
    return piece(
        f"{LOOKS[seat]} {'active' if left else 'drained'}",
        seat,
        *_raised(_PLUG, _PLUG, _ROUND[seat]),
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
    mark = [_box("ring", _SECTION - 4, _SECTION - 4, 8)] if last else []
    return place(name, at, title, hit, *mark, *inside, last=last)


def _sections(view: BoardInput, last: str) -> Iterator[Markup]:
    position = view.position
    rest = volts_left(position)
    for (row, left), (column, top) in product(
        enumerate(position["left"]), enumerate(position["top"])
    ):
        name, title, inside = f"{left}{top}", f"{left}{top}", []
        if name in position["grid"]:
            plug, seat = position["grid"][name]
            full = plug_value(plug, name) * (-1 if seat else 1)
            inside = [_plug(plug, seat, full, rest[name])]
            volts, left_over = _signed(full), _signed(rest[name])
            held = SAY("held", section=name, owner=seat, plug=plug, full=volts, left=left_over)
            title = held.in_language(view.language)
        at = _LEFT + _SECTION * (column + 0.5), _TOP + _SECTION * (row + 0.5)
        yield _section(name, at, inside, title, last=name == last)


def _edges(position: Mapping[str, Any]) -> Iterator[Markup]:
    for at, (left, top) in enumerate(zip(position["left"], position["top"], strict=True)):
        along = _SECTION * (at + 0.5)
        yield text_line(str(top), (_LEFT + along, _TOP - 22), class_="edge-digit")
        yield text_line(str(left), (_LEFT - 24, _TOP + along), class_="edge-digit")


# --- the plugs outside the grid


@lru_cache(PLACES_KEPT)
def _chip(name: str, at: Point, look: str, seat: int | None, language: Translation) -> Markup:
    return group(
        element("title", escape_text(SAY("chip", plug=name).in_language(language))),
        _box("hit", _APART - 2, _APART - 2),
        *_raised(*_CHIP, 14 if seat is None else _ROUND[seat] * 0.6),
        text_line(name, (0, 0), class_="digit"),
        class_=f"plug {look}",
        data_plug=name,
        data_seat=None if seat is None else str(seat),
        at=at,
    )


def _lines_of(plugs: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    return ((at // _LINE, at % _LINE, plug) for at, plug in enumerate(plugs))


def _hands(view: BoardInput) -> tuple[list[Markup], float]:
    """Return the plugs left, and the lower end of the drawing."""
    position = view.position
    hands = [(None, position["pool"])] if "pool" in position else [*enumerate(position["hands"])]
    drawn, down = [], _BOTTOM + 18.0
    for seat, plugs in hands:
        look = "pool" if seat is None else LOOKS[seat]
        if seat is not None and plugs:
            beside = (_LEFT - 24, down + _APART / 2)
            drawn.append(text_line(_SIGNS[seat], beside, class_="edge-digit"))
        for line, column, plug in _lines_of(plugs):
            at = (_LEFT + _APART * (column + 0.5), down + _APART * (line + 0.5))
            drawn.append(_chip(plug, at, look, seat, view.language))
        down += _APART * -(-len(plugs) // _LINE)
    return drawn, down if drawn else _BOTTOM + 10.0


# --- the picture


def _player(seat: int, rest: Mapping[str, int], language: Translation) -> PlayerCaption:
    own = [abs(left) for left in rest.values() if left * (-1 if seat else 1) > 0]
    sign = text_line(_SIGNS[seat], (0, 0), class_="digit")
    plug = icon(LOOKS[seat], _box("body", 32, 32, _ROUND[seat] * 0.5), sign)
    counts = SAY("counts", active=len(own), volts=sum(own))
    return PlayerCaption(plug, counts.in_language(language))


def _sentences(view: BoardInput) -> tuple[str, ...]:
    position, language = view.position, view.language
    left, top = (" ".join(map(str, position[edge])) for edge in ("left", "top"))
    grid = {
        SAY("grid", owner=seat).in_language(language): [
            SAY("in", plug=plug, section=section).in_language(language)
            for section, (plug, own) in position["grid"].items()
            if own == seat
        ]
        for seat in (0, 1)
    }
    if "pool" in position:
        hands = {SAY("pool").in_language(language): position["pool"]}
    else:
        hands = {
            SAY("hand", owner=seat).in_language(language): position["hands"][seat]
            for seat in (0, 1)
        }
    edges = SAY("edges", left=left, top=top).in_language(language)
    return (f"{edges}.", *place_sentences({**grid, **hands}))


def paint(view: BoardInput) -> Picture:
    """Draw a position, each plug with its value and the voltage it has left."""
    position, rest = view.position, volts_left(view.position)
    hands, height = _hands(view)
    last = view.last.rpartition("-")[2]
    frame = element("rect", class_="frame", x=_LEFT, y=_TOP, width=_GRID, height=_GRID, rx=3)
    drawn = (*_edges(position), *_sections(view, last), frame, *hands)
    players = (_player(0, rest, view.language), _player(1, rest, view.language))
    return Picture(drawn, height, players, _sentences(view))


# --- figures


def _figure(plug: Markup) -> Markup:
    return element("g", plug, transform="scale(0.45)")


FIGURES: Final = {
    "plug": _figure(_plug("24", 0, 6, 2)),
    "drained": _figure(_plug("82", 1, -4, 0)),
}
