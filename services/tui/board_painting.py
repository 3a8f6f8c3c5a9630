"""A drawn board with the marks of a choice, as text with styles.

Each mark can be recognised without colour: the cursor is in brackets and inverted, chosen places are
in parentheses, and places that can be chosen are underlined.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from rich.text import Text

from services.tui.drawn_board import DrawnBoard, PlaceBox


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
