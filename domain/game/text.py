"""The input of a game's text drawing, and where it shows places."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec


class TextInput(msgspec.Struct, frozen=True):
    """The input of a text drawing."""

    position: Mapping[str, Any]
    """The position in its JSON form."""
    display: str
    """One of the game's `displays`."""
    names: Sequence[str] = ()
    """The players' names by seat, for drawings that show them; may be empty."""


class TextPlace(msgspec.Struct, frozen=True):
    """Where a text drawing shows a place that moves can name: a rectangle of characters."""

    name: str
    """Its name in moves, such as `m13`."""
    line: int
    """Its first line; the first line of the drawing is 0."""
    column: int
    """Its first column; the first column is 0."""
    width: int = 1
    """In columns."""
    height: int = 1
    """In lines."""
