"""Powerdrain as text: every plug with its value and the voltage it has left."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from domain.game.text import TextInput, TextPlace
from domain.games.powerdrain.json import volts_left
from domain.games.powerdrain.position import SIDES, plug_value

_SIGNS: Final = "+-"
_EMPTY: Final = (" " * 7, " " * 7)
_RULE: Final = f"   {'-' * 41}"
_GRID_LINE: Final = 2
"""The first line of the grid's first row."""
_PLUG: Final = re.compile("[2468]{2}")


def _signed(volts: int) -> str:
    """Return a voltage with its sign, in three columns; zero has none."""
    return f"{volts:+}".ljust(3) if volts else " 0 "


def _sections(position: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return both lines of each section that holds a plug, seven columns wide."""
    left, sections = volts_left(position), {}
    for section, (plug, seat) in position["grid"].items():
        full = plug_value(plug, section) * (-1 if seat else 1)
        volts = f"{_signed(full)} {_signed(left[section])}"
        sections[section] = (f" <{plug[0]} {plug[1]}^ ", volts)
    return sections


def _players(names: Sequence[str]) -> list[str]:
    """Return the text beside the grid for each player: side, sign and name."""
    named = names or ("", "")
    return [
        f"   {side} {sign} {name}".rstrip()
        for side, sign, name in zip(SIDES, _SIGNS, named, strict=True)
    ]


def _plugs_left(position: Mapping[str, Any]) -> list[str]:
    """Return the lines of the hands or the pool; none when all plugs are in the grid."""
    if "pool" in position:
        hands = {"Pool": position["pool"]}
    else:
        labels = [f"{side} {sign}" for side, sign in zip(SIDES, _SIGNS, strict=True)]
        hands = dict(zip(labels, position["hands"], strict=True))
    if not any(hands.values()):
        return []
    width = max(map(len, hands))
    return ["", *(f"{label:{width}}  {' '.join(hand)}".rstrip() for label, hand in hands.items())]


def draw(view: TextInput) -> str:
    """Draw a position, with the players' names if there are any; there is only one display."""
    position = view.position
    top, sections = position["top"], _sections(position)
    positive, negative = _players(view.names)
    lines = [" " * 7 + (" " * 7).join(map(str, top)), _RULE + positive]
    for row, potential in enumerate(position["left"]):
        cells = [sections.get(f"{potential}{over}", _EMPTY) for over in top]
        plugs, volts = ("|".join(half) for half in zip(*cells, strict=True))
        beside = negative if row == 1 else ""
        lines += [f"{potential}  |{plugs}|{beside}", f"   |{volts}|", _RULE]
    return "\n".join([*lines, *_plugs_left(position)])


def places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each section is in the drawing, and each plug below it."""
    position = view.position
    for row, potential in enumerate(position["left"]):
        for across, over in enumerate(position["top"]):
            yield TextPlace(f"{potential}{over}", _GRID_LINE + 3 * row, 4 + 8 * across, 7, 2)
    below = _GRID_LINE + 3 * len(position["left"])
    for line, text in enumerate(_plugs_left(position), below):
        for plug in _PLUG.finditer(text):
            yield TextPlace(plug[0], line, plug.start(), 2)
