"""A board as text, and where its places are: neighbours, hits, and what changes between two boards."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Self

import msgspec

_GAP: Final = 2
"""Columns between two names of a list."""
_LIST_WIDTH: Final = 48
"""The width of a list of names, in columns."""
_ASIDE: Final = 2
"""By how much a step to the side counts more than one in the wanted direction."""
_LINE_HEIGHT: Final = 2
"""The height of a line of text, measured in columns."""

DIRECTIONS: Final[Mapping[str, tuple[int, int]]] = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, -1),
    "down": (0, 1),
}


class PlaceBox(msgspec.Struct, frozen=True):
    """The rectangle of characters in which a text shows a place."""

    name: str
    line: int
    column: int
    width: int = 1
    height: int = 1

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle: across and down, both in columns."""
        across = self.column + (self.width - 1) / 2
        return across, _LINE_HEIGHT * (self.line + (self.height - 1) / 2)

    def covers(self, line: int, column: int) -> bool:
        """Return whether a character is in it."""
        return 0 <= line - self.line < self.height and 0 <= column - self.column < self.width


class DrawnBoard(msgspec.Struct, frozen=True):
    """A board as the server draws it, see `/api/matches/{board}/board.json`."""

    ply: int
    move: str | None
    next: str
    text: str
    places: tuple[PlaceBox, ...]
    display: str
    displays: tuple[str, ...]
    prompt: str

    @classmethod
    def read(cls, document: Any) -> Self:
        """Read the document of the API."""
        return msgspec.convert(document, cls)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines of the text."""
        lines = self.text.split("\n")
        return max(map(len, lines)), len(lines)

    @property
    def boxes(self) -> Mapping[str, PlaceBox]:
        """The places by name."""
        return {box.name: box for box in self.places}

    def with_list(self, names: Iterable[str]) -> "DrawnBoard":
        """Return the board with a list below it of all names that it does not show."""
        known = self.boxes
        missing = [name for name in names if name not in known]
        if not missing:
            return self
        lines = [*self.text.split("\n"), ""]
        boxes = [*self.places]
        for row in _rows(missing):
            column = 1
            for name in row:
                boxes.append(PlaceBox(name, len(lines), column, len(name)))
                column += len(name) + _GAP
            lines.append(" " + (" " * _GAP).join(row))
        return msgspec.structs.replace(self, text="\n".join(lines), places=tuple(boxes))

    def place_at(self, line: int, column: int) -> str | None:
        """Return the name of the place at a character; None if there is none."""
        return next((box.name for box in self.places if box.covers(line, column)), None)

    def nearest(self, start: str, direction: str, among: Collection[str]) -> str | None:
        """Return the nearest place in a direction; None if none of `among` lies there."""
        boxes = self.boxes
        across, down = boxes[start].middle
        right, below = DIRECTIONS[direction]
        found: list[tuple[float, str]] = []
        for name in among:
            if name == start or name not in boxes:
                continue
            x, y = boxes[name].middle
            along = (x - across) * right + (y - down) * below
            aside = abs((x - across) * below) + abs((y - down) * right)
            if along > 0 and aside <= _ASIDE * along:
                found.append((along + _ASIDE * aside, name))
        return min(found)[1] if found else None

    def changed(self, before: "DrawnBoard") -> set[str]:
        """Return the places that look different than on a board before."""
        was = {box.name: before.shown(box) for box in before.places}
        return {box.name for box in self.places if was.get(box.name) != self.shown(box)}

    def shown(self, box: PlaceBox) -> tuple[str, ...]:
        """Return the characters in a rectangle of this board, line by line."""
        lines = self.text.split("\n")[box.line : box.line + box.height]
        return tuple(line[box.column : box.column + box.width] for line in lines)


def _rows(names: Iterable[str]) -> Iterator[list[str]]:
    """Divide names into rows of a bounded width."""
    row: list[str] = []
    for name in names:
        if row and len("  ".join([*row, name])) > _LIST_WIDTH:
            yield row
            row = []
        row.append(name)
    if row:
        yield row
