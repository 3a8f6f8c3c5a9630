"""What a painter is given, what it gives back, and the place that every board is made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from domain.drawing.svg.elements import Markup, Point, element, group, number, words

WIDTH: Final = 512
"""How wide every picture is, in its own units; the height is the game's."""
LOOKS: Final = ("light", "dark", "third")
"""The classes by which pieces are told apart; of a colour, where players can exchange colours."""


class BoardInput(msgspec.Struct, frozen=True):
    """What is to be drawn: a position in its JSON form, and how it came about."""

    position: Mapping[str, Any]
    last: str = ""
    """The last move's canonical text; empty where nothing is to be marked."""
    before: Mapping[str, Any] | None = None
    """The position in which it was made, where that is known."""


class Player(msgspec.Struct, frozen=True):
    """What stands beside a player's name."""

    icon: Markup
    """A piece as on the board, around the origin, within 18 units of it."""
    counts: str
    """What the player has, such as `14 left to place`; may be empty."""


class Picture(msgspec.Struct, frozen=True):
    """A board, drawn from the top of a picture `WIDTH` wide."""

    body: tuple[Markup, ...]
    height: float
    players: tuple[Player, ...]
    """By seat."""
    sentences: tuple[str, ...]
    """What is where, in words, for those who don't see it."""


Painter = Callable[[BoardInput], Picture]


def place(name: str, at: Point, title: str, *inside: Markup, last: bool) -> Markup:
    """Return a place of the board, by its name in moves; what is inside lies around the origin."""
    says = element("title", words(title))
    marked = "place last" if last else "place"
    return group(says, *inside, class_=marked, data_place=name, at=at)


def body(look: str, size: float, part: str = "body") -> Markup:
    """Return the outline of a piece: a disc for light, a square with round corners for dark."""
    if look == LOOKS[0]:
        return element("circle", class_=part, r=size)
    half = 0.93 * size
    return element(
        "rect", class_=part, x=-half, y=-half, width=2 * half, height=2 * half, rx=0.4 * half
    )


def piece(classes: str, seat: int, *inside: Markup, plug: str | None = None) -> Markup:
    """Return a piece of a seat's, whose first class is its look; a plug has a name."""
    return group(*inside, class_=f"piece {classes}", data_seat=str(seat), data_plug=plug)


def icon(classes: str, *inside: Markup, scale: float = 1) -> Markup:
    """Return what looks like a piece and is none, to stand beside a player's name."""
    smaller = f"scale({number(scale)})" if scale != 1 else None
    return element("g", *inside, class_=f"icon {classes}", transform=smaller)


def ring(size: float, *, gone: bool) -> Markup:
    """Return the mark of a place of the last move, broken where nothing stands there any more."""
    return element("circle", class_="ring gone" if gone else "ring", r=size)


def listed(where: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a sentence for each kind of piece that is anywhere."""
    return tuple(f"{kind}: {', '.join(names)}." for kind, names in where.items() if names)
