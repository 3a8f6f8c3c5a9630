"""The input and output of painters, and the parts that their boards are made of.

Elements of SVG as text: escaped, in a stable order, numbers with at most two decimals.

`Markup` is text that may be inserted between tags. Text from people becomes markup only by `escape_text`
or as the value of an attribute; both escape it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NewType

import msgspec

from domain.sentences import ENGLISH, Translation

Markup = NewType("Markup", str)
Point = tuple[float, float]
"""To the right and down, in units of the drawing."""

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids, even escaped."""
_SPECIAL: Final = re.compile("[^\t\n\r !#-%(-;=?-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Those, and the characters that are escaped."""
_ESCAPED: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
)
_LETTER: Final = 0.56
"""The average width of a letter, as a part of the font's size."""


@lru_cache(4_096)
def number(value: float) -> str:
    """Return a number as text, with at most two decimals."""
    return f"{round(value, 2) + 0.0:g}"  # + 0.0 so that there is no -0


def escape_text(text: str) -> Markup:
    """Return a text as markup, escaped."""
    if _SPECIAL.search(text) is None:
        return Markup(text)
    return Markup(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text).translate(_ESCAPED))


@cache
def _attribute_name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _attribute(name: str, value: str | float) -> str:
    text = escape_text(value) if isinstance(value, str) else number(value)
    return f' {_attribute_name(name)}="{text}"'


def element(tag: str, *inside: Markup, **attributes: str | float | None) -> Markup:
    """Return an element; `class_` becomes `class`, `data_x` becomes `data-x`, None is left out."""
    written = "".join(
        _attribute(name, value) for name, value in attributes.items() if value is not None
    )
    if not inside:
        return Markup(f"<{tag}{written}/>")
    return Markup(f"<{tag}{written}>{''.join(inside)}</{tag}>")


def group(*inside: Markup, at: Point | None = None, **attributes: str | float | None) -> Markup:
    """Return a group of elements, moved from the origin to a point."""
    moved = None if at is None else f"translate({number(at[0])} {number(at[1])})"
    return element("g", *inside, **attributes, transform=moved)


def text_line(text: str, at: Point, **attributes: str | float | None) -> Markup:
    """Return a line of text at a point; the style of its class says which part of it lies there."""
    return element("text", escape_text(text), x=at[0], y=at[1], **attributes)


def width_of(text: str, size: float) -> float:
    """Return the approximate width of a line of text."""
    return len(text) * size * _LETTER


def fit_text(text: str, at: Point, room: float, size: float, class_: str) -> Markup:
    """Return a line of text, condensed if it is wider than `room`."""
    if width_of(text, size) <= room:
        return text_line(text, at, class_=class_)
    return text_line(text, at, class_=class_, textLength=room, lengthAdjust="spacingAndGlyphs")


def outline(points: Iterable[Point]) -> str:
    """Return the closed path through some points."""
    return f"M{' '.join(f'{number(x)} {number(y)}' for x, y in points)}Z"


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


_GROUP: Final = re.compile("<g([^>]*[^/>])?>|</g>")
_NAMED: Final = re.compile('data-place="([^"]*)"')
_MOVED: Final = re.compile(r"translate\(([^ ]+) ([^)]+)\)(?: scale\(([^)]+)\))?")


def places_in(picture: Picture) -> dict[str, Point]:
    """Return where in a picture the places of its board are, by their names in moves."""
    found: dict[str, Point] = {}
    outer = [(0.0, 0.0, 1.0)]
    for opening in _GROUP.finditer("".join(picture.body)):
        if opening[0] == "</g>":
            outer.pop()
            continue
        x, y, scale = outer[-1]
        if moved := _MOVED.search(opening[0]):
            x, y = x + float(moved[1]) * scale, y + float(moved[2]) * scale
            scale *= float(moved[3] or 1)
        outer.append((x, y, scale))
        if named := _NAMED.search(opening[0]):
            found[named[1]] = round(x, 2), round(y, 2)
    return found


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
