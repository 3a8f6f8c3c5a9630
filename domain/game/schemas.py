"""How a game describes its moves and positions to programs: a pattern with named parts, and JSON Schema.

A game's package declares both from its own tables, such as the names of its places, so that a board with other
places has another pattern. A form of a page may take a pattern as it is, and so does a JSON Schema: it uses
only what regular expressions of JavaScript and Python have in common.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from domain.sentences import Text

Schema = Mapping[str, Any]
"""A JSON Schema, of the version 2020-12."""

MOST_CHARACTERS: Final = 512
"""The most characters of a move."""


class MovePart(msgspec.Struct, frozen=True):
    """A part of a move."""

    name: str
    """Its name for programs, such as `from`."""
    means: str
    """Its meaning. A game declares it in English; a translation has it in the context `KEY:notation`."""


class MoveNotation(msgspec.Struct, frozen=True):
    """How the moves of a game are written in canonical form."""

    pattern: str
    """A regular expression of the whole move, with a group for each part."""
    parts: tuple[MovePart, ...]
    """The parts, in the order of the groups; one that a move does not have is empty."""

    def read(self, move: str) -> dict[str, str]:
        """Return the parts of a canonical move by name; `ValueError` for a text that is none."""
        found = re.fullmatch(self.pattern, move)
        if found is None:
            raise ValueError(f"{move[:24]!r} is not of the form {self.pattern}")
        named = zip(self.parts, found.groups(), strict=True)
        return {part.name: text for part, text in named if text}


def notation(form: str, *parts: tuple[str, str]) -> MoveNotation:
    """Return a notation from a regular expression with a group for each part, each with its name and meaning."""
    return MoveNotation(f"^(?:{form})$", tuple(MovePart(*part) for part in parts))


def one_of(names: Iterable[str]) -> str:
    """Return a regular expression without groups for names, such as those of places: `a(?:1|3)|b2`."""
    found = []
    ordered = sorted(names, key=lambda name: (name[:1], len(name), name))
    for first, several in groupby(ordered, key=lambda name: name[:1]):
        ends = [re.escape(name[1:]) for name in several]
        found.append(first + (ends[0] if len(ends) == 1 else f"(?:{'|'.join(ends)})"))
    return f"(?:{'|'.join(found)})"


def object_of(fields: Schema, optional: Schema | None = None) -> dict[str, Any]:
    """Return the schema of an object with just these fields."""
    return {
        "type": "object",
        "properties": {**fields, **(optional or {})},
        "required": [*fields],
        "additionalProperties": False,
    }


def by_place(names: Sequence[str], values: Schema, means: str) -> dict[str, Any]:
    """Return the schema of an object with values for some of the places of a board."""
    return {
        "type": "object",
        "description": means,
        "propertyNames": {"enum": [*names]},
        "additionalProperties": values,
    }


def letters(kinds: Mapping[str, Text]) -> dict[str, Any]:
    """Return the schema of a letter that stands for a kind of piece, each with its name."""
    return {"oneOf": [{"const": one, "title": str(title)} for one, title in kinds.items()]}


def one_each(count: int, values: Schema, means: str) -> dict[str, Any]:
    """Return the schema of a list of so many values, such as one for each seat."""
    return {
        "type": "array",
        "description": means,
        "items": values,
        "minItems": count,
        "maxItems": count,
    }


def number(most: int, means: str = "", least: int = 0) -> dict[str, Any]:
    """Return the schema of a whole number."""
    said = {"description": means} if means else {}
    return {"type": "integer", "minimum": least, "maximum": most, **said}


def yes_or_no(means: str) -> dict[str, Any]:
    """Return the schema of a boolean."""
    return {"type": "boolean", "description": means}


ANY_MOVE: Final = MoveNotation("^.+$", ())
"""The notation of a game that declares none."""
