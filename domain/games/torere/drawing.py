"""Mū tōrere: eight kewai around the putahi; in SVG on a star with koru as in kōwhaiwhai."""

from collections.abc import Iterator, Sequence
from functools import cache
from math import cos, pi, sin
from typing import Final

from domain.game.painter import (
    LOOKS,
    WIDTH,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    group,
    icon,
    number,
    outline,
    piece,
    place,
    place_sentences,
    ring,
    stone,
    text_line,
)
from domain.game.protocol import TextInput, TextPlace
from domain.games.torere.rules import PLACES
from domain.games.torere.sentences import SAY

# --- text

_LETTERS: Final = "PABCDEFGH"
"""The letters in the template for the putahi and for the kewai 1 to 8."""
_TEMPLATE: Final = r"""
          1
       .--A--.
    8 H   |   B 2
     / \  |  / \
    /   \ | /   \
   /     \|/     \
7 G-------P-------C 3
   \     /|\ 0   /
    \   / | \   /
     \ /  |  \ /
    6 F   |   D 4
       '--E--'
          5
""".strip("\n")


def draw(view: TextInput) -> str:
    """Draw a position; there is only one display."""
    board = view.position["board"]
    stones = {letter: board.get(str(at), "*") for at, letter in enumerate(_LETTERS)}
    return _TEMPLATE.translate(str.maketrans(stones))


def text_places(view: TextInput) -> Iterator[TextPlace]:
    """Return where each place of the star is in the drawing."""
    del view
    for line, letters in enumerate(_TEMPLATE.splitlines()):
        for column, letter in enumerate(letters):
            if letter in _LETTERS:
                yield TextPlace(str(_LETTERS.index(letter)), line, column)


# --- SVG

_HEIGHT: Final = 484
_MIDDLE: Final = (WIDTH / 2, _HEIGHT / 2)
_RADIUS: Final = 168
_BAND: Final = (204, 236)
"""The radii of the band around the board, in which the numbers of the kewai stand."""
_VALLEY: Final = 64
"""The distance from the middle of the corners between the rays of the star."""
_HIT, _SPOT, _STONE, _RING, _ICON = 40, 25, 25, 32, 13
_SEATS: Final = {"o": 0, "x": 1}
_KEWAI: Final = range(1, 9)
_KORU: Final = (
    "M-30 -192C-2 -198 30 -186 27 -158C24 -136 -6 -134 -8 -153C-9 -165 8 -167 10 -157",
    "M-38 -150C-32 -134 -18 -112 -8 -104",
)
"""A koru, as it stands between two rays at the top."""


def _around(kewai: float, radius: float) -> Point:
    """Return the point in the direction of a kewai; 1 is at the top, the others follow clockwise."""
    angle = (kewai - 1) * pi / 4
    return _MIDDLE[0] + radius * sin(angle), _MIDDLE[1] - radius * cos(angle)


def _centre_of(name: str) -> Point:
    return _around(int(name), _RADIUS) if name != "0" else _MIDDLE


def _star() -> Iterator[Markup]:
    """Yield the ground: the band, the star, and a koru between any two of its rays."""
    for radius in _BAND:
        yield element("circle", class_="band", cx=_MIDDLE[0], cy=_MIDDLE[1], r=radius)
    corners = (
        _around(kewai + half / 2, (_RADIUS, _VALLEY)[half]) for kewai in _KEWAI for half in (0, 1)
    )
    yield element("path", class_="star", d=outline(corners))
    across, down = map(number, _MIDDLE)
    koru = [element("path", class_="koru", d=way) for way in _KORU]
    for kewai in _KEWAI:
        turn = f"translate({across} {down})rotate({number(kewai * 45 - 22.5)})"
        yield element("g", *koru, transform=turn)


def _lines() -> Iterator[Markup]:
    """Yield the circle of the kewai, and the line from each to the putahi."""
    (across, down), radius = _MIDDLE, _RADIUS
    yield element("circle", class_="line edge", cx=across, cy=down, r=radius)
    for kewai in _KEWAI:
        x, y = _around(kewai, radius)
        yield element("line", class_="line", x1=across, y1=down, x2=x, y2=y)
        yield text_line(str(kewai), _around(kewai, sum(_BAND) / 2), class_="label large")
    yield text_line("0", _around(1.5, 44), class_="label large")


@cache
def _board() -> tuple[Markup, ...]:
    """Return the board without stones."""
    return (*_star(), *_lines())


@cache
def _stone(seat: int) -> Markup:
    return piece(f"{LOOKS[seat]} stone", seat, *stone(LOOKS[seat], _STONE))


def _place(name: str, seat: int | None, sides: Sequence[str], *, last: bool) -> Markup:
    inside = [element("circle", class_="hit", r=_HIT)]
    well = element("circle", class_="well", r=_SPOT)
    mark = [ring(_RING, gone=seat is None)] if last else []
    inside += [*mark, well] if seat is None else [well, *mark, _stone(seat)]
    title = name if seat is None else f"{name}: {sides[seat]}"
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
    sides = [SAY("side", seat=seat).in_language(view.language) for seat in _SEATS.values()]
    places = (_place(name, stones.get(name), sides, last=name in ends) for name in PLACES)
    players = tuple(
        PlayerCaption(icon(f"{look} stone", *stone(look, _ICON)), "") for look in LOOKS[:2]
    )
    where = {
        side: [name for name, own in stones.items() if own == seat]
        for seat, side in enumerate(sides)
    }
    return Picture((*_board(), *_trail(ends), *places), _HEIGHT, players, place_sentences(where))


def _figure(name: str) -> Markup:
    well = element("circle", class_="well", r=16)
    return group(well, text_line(name, (0, 0), class_="label large"))


FIGURES: Final = {"putahi": _figure("0"), "kewai": _figure("1")}
