"""The input and output of painters, and the parts that their boards are made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from domain.game.svg import Markup, Point, element, escape_text, group, number
from domain.translation import ENGLISH, Translation

WIDTH: Final = 512
"""The width of every picture, in its own units; the height depends on the game."""
LOOKS: Final = ("light", "dark", "third")
"""The CSS classes that distinguish pieces: by player, or by colour if players can swap colours."""


class BoardInput(msgspec.Struct, frozen=True):
    """The input of a painter: a position in its JSON form, and the move before it."""

    position: Mapping[str, Any]
    last: str = ""
    """The canonical text of the last move; empty if there is none to mark."""
    before: Mapping[str, Any] | None = None
    """The position before that move, if it is known."""
    turned: bool = False
    """Whether the side of the second seat is below, in games whose board has sides."""
    language: Translation = ENGLISH
    """The language of titles and descriptions."""


class PlayerCaption(msgspec.Struct, frozen=True):
    """An icon and a count beside a player's name."""

    icon: Markup
    """One of the player's pieces, around the origin and within 18 units of it."""
    counts: str
    """The count of the player's pieces, such as `14 left to place`; may be empty."""

    @property
    def look(self) -> str:
        """The look of the player's pieces: the first class of the icon."""
        return self.icon.partition('class="icon ')[2].partition('"')[0].split()[0]


class Picture(msgspec.Struct, frozen=True):
    """A drawn board, `WIDTH` wide and placed at the top of the document."""

    body: tuple[Markup, ...]
    height: float
    players: tuple[PlayerCaption, ...]
    """The captions of the players, by seat."""
    sentences: tuple[str, ...]
    """Sentences that list the pieces and their places, for people who can't see them."""


Painter = Callable[[BoardInput], Picture]


def place(name: str, at: Point, title: str, *inside: Markup, last: bool) -> Markup:
    """Return a place of the board under its name in moves; its parts lie around the origin."""
    says = element("title", escape_text(title))
    marked = "place last" if last else "place"
    return group(says, *inside, class_=marked, data_place=name, at=at)


def body(look: str, size: float, part: str = "body") -> Markup:
    """Return the outline of a piece, a disc; its look decides nothing but the colours."""
    del look
    return element("circle", class_=part, r=size)


def shade(size: float) -> Markup:
    """Return the shadow of a disc."""
    return element("circle", class_="shade", cx=0.06 * size, cy=0.16 * size, r=1.04 * size)


def shine(size: float) -> tuple[Markup, ...]:
    """Return the light on a disc, from the upper left: two spots, one within the other."""
    return tuple(
        element("circle", class_="shine", cx=-away * size, cy=-1.3 * away * size, r=part * size)
        for away, part in ((0.1, 0.76), (0.24, 0.4))
    )


def stone(look: str, size: float) -> tuple[Markup, ...]:
    """Return a stone with its shadow and the light on it."""
    return shade(size), body(look, size), *shine(size)


def piece(classes: str, seat: int, *inside: Markup, plug: str | None = None) -> Markup:
    """Return a piece of a seat; the first class is its look, and `plug` the name of a plug."""
    return group(*inside, class_=f"piece {classes}", data_seat=str(seat), data_plug=plug)


def icon(classes: str, *inside: Markup, scale: float = 1) -> Markup:
    """Return the picture of a piece, to stand beside a player's name."""
    smaller = f"scale({number(scale)})" if scale != 1 else None
    return element("g", *inside, class_=f"icon {classes}", transform=smaller)


def ring(size: float, *, gone: bool) -> Markup:
    """Return the mark of a place of the last move, dashed if its piece is gone."""
    return element("circle", class_="ring gone" if gone else "ring", r=size)


def place_sentences(where: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return a sentence for each kind of piece on the board, with its places."""
    return tuple(f"{kind}: {', '.join(names)}." for kind, names in where.items() if names)
