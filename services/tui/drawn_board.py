"""A board as text, and where its places are: neighbours, hits, and what changes between two boards.

A drawn board with the marks of a choice, as text with styles.

Each mark can be recognised without colour: the cursor is in brackets and inverted, chosen places are
in parentheses, and places that can be chosen are underlined.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, Self

import msgspec
from rich.text import Text

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


class PlaceMarks(NamedTuple):
    """Which places are marked, and how."""

    targets: Collection[str] = ()
    """They can be chosen."""
    chosen: Collection[str] = ()
    cursor: str | None = None
    last: Collection[str] = ()
    """They belong to the last move."""
    changed: Collection[str] = ()
    """They would change by the move that is previewed."""


def paint(board: DrawnBoard, marks: PlaceMarks) -> Text:
    """Return the board's text with its marks; the cursor goes above all others."""
    boxes = board.boxes
    lines = [list(line) for line in board.text.split("\n")]
    cursor = () if marks.cursor is None else (marks.cursor,)
    _surround(lines, (boxes[name] for name in marks.chosen if name in boxes), "()")
    _surround(lines, (boxes[name] for name in cursor if name in boxes), "[]")
    styled: dict[tuple[int, int], str] = {}
    for names, style in (
        (marks.last, "bold cyan"),
        (marks.targets, "bold underline green"),
        (marks.changed, "bold italic magenta"),
        (marks.chosen, "bold reverse yellow"),
        (cursor, "bold reverse"),
    ):
        for name in names:
            if name in boxes:
                styled |= dict.fromkeys(_cells(boxes[name]), style)
    text = Text(no_wrap=True)
    for line, letters in enumerate(lines):
        text.append("\n" if line else "")
        for column, letter in enumerate(letters):
            text.append(letter, styled.get((line, column), ""))
    return text


def _cells(box: PlaceBox) -> Iterable[tuple[int, int]]:
    return (
        (line, column)
        for line in range(box.line, box.line + box.height)
        for column in range(box.column, box.column + box.width)
    )


def _surround(lines: list[list[str]], boxes: Iterable[PlaceBox], brackets: str) -> None:
    """Write brackets beside the first line of each rectangle."""
    for box in boxes:
        line = lines[box.line]
        line.extend(" " * (box.column + box.width + 1 - len(line)))
        if box.column:
            line[box.column - 1] = brackets[0]
        line[box.column + box.width] = brackets[1]
