"""Mū tōrere in SVG: eight kewai around the putahi."""

from collections.abc import Iterator
from math import cos, pi, sin
from typing import Final

from domain.drawing.svg.elements import Markup, Point, element, number, text_line
from domain.drawing.svg.painter import (
    LOOKS,
    WIDTH,
    BoardInput,
    Picture,
    PlayerCaption,
    body,
    icon,
    piece,
    place,
    place_sentences,
    ring,
)
from domain.games.torere.position import PLACES, SIDES

_HEIGHT: Final = 470
_MIDDLE: Final = (WIDTH / 2, _HEIGHT / 2)
_RADIUS: Final = 172
_LABEL: Final = 218
"""The distance of the numbers of the kewai from the middle."""
_HIT, _SPOT, _STONE, _RING, _ICON = 40, 9, 25, 32, 13
_SEATS: Final = {"o": 0, "x": 1}
_KEWAI: Final = range(1, 9)


def _around(kewai: int, radius: float) -> Point:
    """Return the point in the direction of a kewai; 1 is at the top, the others follow clockwise."""
    angle = (kewai - 1) * pi / 4
    return _MIDDLE[0] + radius * sin(angle), _MIDDLE[1] - radius * cos(angle)


def _centre_of(name: str) -> Point:
    return _around(int(name), _RADIUS) if name != "0" else _MIDDLE


def _lines() -> Iterator[Markup]:
    """Yield the circle of the kewai, and the line from each to the putahi."""
    (across, down), radius = _MIDDLE, _RADIUS
    yield element("circle", class_="line edge", cx=across, cy=down, r=radius)
    for kewai in _KEWAI:
        x, y = _around(kewai, radius)
        yield element("line", class_="line", x1=across, y1=down, x2=x, y2=y)
        yield text_line(str(kewai), _around(kewai, _LABEL), class_="label large")
    yield text_line("0", (across + 17, down + 41), class_="label large")


def _stone(seat: int) -> Markup:
    return piece(f"{LOOKS[seat]} stone", seat, body(LOOKS[seat], _STONE))


def _place(name: str, seat: int | None, *, last: bool) -> Markup:
    inside = [element("circle", class_="hit", r=_HIT)]
    inside.append(element("circle", class_="spot", r=_SPOT) if seat is None else _stone(seat))
    if last:
        inside.append(ring(_RING, gone=seat is None))
    title = name if seat is None else f"{name}: {SIDES[seat]}"
    return place(name, _centre_of(name), title, *inside, last=last)


def _trail(ends: list[str]) -> Iterator[Markup]:
    """Yield the path of a stone; between neighbouring kewai it follows the circle."""
    if len(ends) > 1:
        (ax, ay), (bx, by) = map(_centre_of, ends[:2])
        start, end = f"M{number(ax)} {number(ay)}", f"{number(bx)} {number(by)}"
        onwards = int(int(ends[0]) % len(_KEWAI) + 1 == int(ends[1]))
        way = "L" if "0" in ends else f"A{_RADIUS} {_RADIUS} 0 0 {onwards} "
        yield element("path", class_="trail", d=f"{start}{way}{end}")


def paint(view: BoardInput) -> Picture:
    """Draw a position."""
    stones = {name: _SEATS[letter] for name, letter in view.position["board"].items()}
    ends = [name for name in view.last.split("-") if name in set(PLACES)]
    places = (_place(name, stones.get(name), last=name in ends) for name in PLACES)
    players = tuple(
        PlayerCaption(icon(f"{look} stone", body(look, _ICON)), "") for look in LOOKS[:2]
    )
    where = {
        side: [name for name, own in stones.items() if own == seat]
        for seat, side in enumerate(SIDES)
    }
    return Picture((*_lines(), *_trail(ends), *places), _HEIGHT, players, place_sentences(where))
