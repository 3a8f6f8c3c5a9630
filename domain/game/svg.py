"""Elements of SVG as text: escaped, in a stable order, numbers with at most two decimals.

`Markup` is text that may be inserted between tags. Text from people becomes markup only by `escape_text`
or as the value of an attribute; both escape it.
"""

import re
from collections.abc import Iterable
from typing import Final, NewType

Markup = NewType("Markup", str)
Point = tuple[float, float]
"""To the right and down, in units of the drawing."""

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids, even escaped."""
_ESCAPED: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
)
_LETTER: Final = 0.56
"""The average width of a letter, as a part of the font's size."""


def number(value: float) -> str:
    """Return a number as text, with at most two decimals."""
    return f"{round(value, 2) + 0.0:g}"  # + 0.0 so that there is no -0


def escape_text(text: str) -> Markup:
    """Return a text as markup, escaped."""
    return Markup(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text).translate(_ESCAPED))


def _attribute(name: str, value: str | float) -> str:
    text = escape_text(value) if isinstance(value, str) else number(value)
    return f' {name.rstrip("_").replace("_", "-")}="{text}"'


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
