"""What stands where on a board, read from the text that OpenSpiel writes of it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from string import ascii_lowercase
from typing import Final, NamedTuple

Naming = Callable[[int, int, int, int], str]
"""From a row and a column, the number of the place and the number of rows, all from 0, to its name in moves."""


class Shape(Enum):
    """How places are drawn."""

    SQUARES = auto()
    CHECKERED = auto()
    CROSSINGS = auto()
    """Points where the lines of a square grid cross."""
    HEXAGONS = auto()
    POINTS = auto()
    """Points as they lie in the text, with the lines that it shows between them."""
    PITS = auto()
    """Hollows with a number in each."""
    BARS = auto()
    """Lines between dots, with a letter for the owner of each square."""
    PEGS = auto()
    """Holes in rows, some with pegs, and links between pegs."""


class Cell(NamedTuple):
    """A place of a board."""

    name: str
    line: int
    """Its line and column in the text, both from 0."""
    column: int
    row: int
    """Its row and column on a board of squares, both from 0."""
    at: int
    content: str


def downward(row: int, column: int, number: int, rows: int) -> str:
    """Return names by letters, and numbers from above."""
    del number, rows
    return f"{ascii_lowercase[column]}{row + 1}"


def upward(row: int, column: int, number: int, rows: int) -> str:
    """Return names by letters, and numbers from below."""
    del number
    return f"{ascii_lowercase[column]}{rows - row}"


def go_points(row: int, column: int, number: int, rows: int) -> str:
    """Return names as `upward` does, without the letter i."""
    del number
    return f"{'abcdefghjklmnopqrst'[column]}{rows - row}"


def numbered(row: int, column: int, number: int, rows: int) -> str:
    """Return numbers in reading order, from 0, as names."""
    del row, column, rows
    return f"{number}"


def hexagon_of(size: int) -> Naming:
    """Return the names of the hexagons of a board with that many on a side: letters are diagonals, numbers are rows from above."""
    return lambda row, column, number, rows: (  # noqa: ARG005
        f"{ascii_lowercase[column + max(0, row - size + 1)]}{row + 1}"
    )


def shogi_squares(row: int, column: int, number: int, rows: int) -> str:
    """Return names of squares by the letter of their row and the number of their file, which are counted from the upper right."""
    del number
    return f"{ascii_lowercase[row]}{rows - column}"


def mancala_pits(row: int, column: int, number: int, rows: int) -> str:
    """Return names of pits as OpenSpiel counts them, around the board."""
    del number, rows
    return f"{column + 1 if row else 13 - column}"


def oware_pits(row: int, column: int, number: int, rows: int) -> str:
    """Return names of pits by the letter that OpenSpiel writes beside each, and by the player whose row it is."""
    del number, rows
    return f"{ascii_lowercase[column]}1" if row else f"{ascii_lowercase[5 - column]}2"


@dataclass(frozen=True)
class Board:
    """How the places of a board are found in its text, and how they are drawn."""

    shape: Shape
    row: str
    """A pattern that the lines with places match, with a group around these."""
    naming: Naming
    cell: str = r"\S"
    """A pattern of a place, within that group."""
    empty: str = "."
    """What is written for places on which nothing stands."""
    code: bool = False
    """Whether OpenSpiel writes a code in place of a board: that of Forsyth and Edwards."""
    note: str = ""
    """A pattern with a group: what of the text is shown below the board."""
    scores: tuple[str, str] | None = None
    """For each seat a pattern with a group: its score in the text. Without it pieces are counted."""
    across: float = 0.577
    """The width of a column of the text, in lines, of boards that are drawn as they lie in it."""
    blocks: int = 0
    """So many squares on a side make a block, with a thicker line around it."""
    spread: tuple[int, int] | None = None
    """In the text the column of the first place of a row, and from one to the next, where rows have gaps."""
    heaps: int = 0
    """Of Nim, the number of heaps."""
    columns: bool = False
    """Whether moves name columns, into which pieces fall."""

    def text(self, text: str) -> str:
        """Return a board as text without blanks at the ends of lines."""
        shown = from_code(text) if self.code else text
        return "\n".join(line.rstrip() for line in shown.rstrip().split("\n"))

    def cells(self, text: str) -> tuple[Cell, ...]:
        """Return the places of a board in reading order."""
        return _cells(self, text)

    def pieces(self, text: str) -> dict[str, str]:
        """Return what stands on each place that isn't empty."""
        return {
            cell.name: cell.content
            for cell in self.cells(text)
            if cell.content not in self.empty and cell.content
        }


_LINKS: Final = {
    "\\": ((1, 0, "|"), (2, 1, "\\"), (3, 1, "|"), (4, 2, "\\"), (5, 3, "|")),
    "_\\": ((0, 1, "_"), (1, 2, "\\"), (1, 3, "_"), (2, 4, "\\"), (2, 5, "_")),
    "/": ((1, 0, "|"), (2, -1, "/"), (3, -1, "|"), (4, -2, "/"), (5, -3, "|")),
    "_/": ((0, -1, "_"), (1, -3, "_"), (1, -2, "/"), (2, -5, "_"), (2, -4, "/")),
}
"""How a text of TwixT shows a link: line, column and sign of each part, seen from the upper peg."""
_ENDS: Final = {"\\": (2, 1), "_\\": (1, 2), "/": (2, -1), "_/": (1, -2)}
"""Where it ends: rows down and columns to the right."""
_HIDDEN: Final = 1
"""So many parts of a link can lie below another one's."""


def links(
    text: str, cells: Iterable[tuple[str, int, int, int, int]]
) -> Iterator[tuple[str, str, str]]:
    """Yield the links between pegs of TwixT: the names of both ends, and whose they are."""
    lines = [line.ljust(120) for line in text.split("\n")]
    at = {(row, column): (name, line, place) for name, line, place, row, column in cells}
    for (row, column), (name, line, place) in at.items():
        own = lines[line][place]
        for kind, (down, across) in _ENDS.items():
            other = at.get((row + down, column + across))
            if other is None or own == "." or lines[other[1]][other[2]] != own:
                continue
            signs = [
                (lines[line + below][place + right], sign) for below, right, sign in _LINKS[kind]
            ]
            if (
                all(there in "_/|\\" for there, _ in signs)
                and sum(there != sign for there, sign in signs) <= _HIDDEN
            ):
                yield name, other[0], own


_PILES: Final = re.compile(r"\): ([\d ]+)")


def piles(text: str) -> tuple[Cell, ...]:
    """Return the tokens of Nim, a heap in each column; a token is named after how many are taken with it."""
    heights = [*map(int, _PILES.findall(text)[0].split())]
    return tuple(
        Cell(f"{ascii_lowercase[at]}{height - level}", 0, 0, 6 - level, at, "x")
        for at, height in enumerate(heights)
        for level in range(height)
    )


def bars(text: str) -> tuple[Cell, ...]:
    """Return the lines of Dots and Boxes; one that was drawn contains its kind."""
    found, lines = [], [line.ljust(80) for line in text.split("\n")]
    across = (len(lines[0].rstrip()) - 1) // 4
    for number, line in enumerate(lines):
        row, upright = divmod(number, 2)
        for at in range(across + upright):
            if upright:
                found.append(
                    Cell(
                        f"v{row + 1}{at + 1}",
                        number,
                        4 * at,
                        2 * row + 1,
                        2 * at,
                        "v" if line[4 * at] == "│" else ".",
                    )
                )
            else:
                drawn = line[4 * at + 1 : 4 * at + 4] == "───"
                found.append(
                    Cell(
                        f"h{row + 1}{at + 1}",
                        number,
                        4 * at + 2,
                        2 * row,
                        2 * at + 1,
                        "h" if drawn else ".",
                    )
                )
    return tuple(found)


@lru_cache(256)
def _cells(board: Board, text: str) -> tuple[Cell, ...]:
    if board.shape is Shape.BARS:
        return bars(text)
    if board.heaps:
        return piles(text)
    lines = [
        (number, re.fullmatch(board.row, line)) for number, line in enumerate(text.split("\n"))
    ]
    rows = [(number, found) for number, found in lines if found]
    cells, found_so_far = [], 0
    for row, (number, found) in enumerate(rows):
        begin, end = found.span(1)
        for at, one in enumerate(re.compile(board.cell).finditer(found.string, begin, end)):
            column = (one.start() - board.spread[0]) // board.spread[1] if board.spread else at
            name = board.naming(row, column, found_so_far, len(rows))
            cells.append(Cell(name, number, one.start(), row, column, one[0]))
            found_so_far += 1
    return tuple(_landing(cells) if board.columns else cells)


def _landing(cells: list[Cell]) -> list[Cell]:
    """Return the places of a board into whose columns pieces fall: the lowest empty one has the column's number."""
    lowest = {cell.at: cell for cell in cells if cell.content == "."}
    return [
        cell._replace(name=f"{cell.at + 1}") if lowest.get(cell.at) is cell else cell
        for cell in cells
    ]


def from_code(code: str) -> str:
    """Return the board of a code of Forsyth and Edwards, with what is in hand and who moves."""
    placed, turn, *rest = code.split(" ")
    placed, _, pocket = placed.rstrip("]").partition("[")
    rows = [
        re.findall(r"\+?[A-Za-z]|\.", re.sub(r"\d", lambda found: "." * int(found[0]), row))
        for row in placed.split("/")
    ]
    is_chess = len(rows) == 8  # noqa: PLR2004 - the rows of chess
    letters = ascii_lowercase[:8] if is_chess else "987654321"
    labels = "87654321" if is_chess else ascii_lowercase
    hand = (rest[0] if not is_chess else pocket).strip("-")
    shown = [
        f"{label} {''.join(f'{piece:>3}' for piece in row)}"
        for label, row in zip(labels, rows, strict=False)
    ]
    below = "  " + "".join(f"{letter:>3}" for letter in letters)
    lines = [*shown, below]
    if hand:
        lines += ["", f"In hand: {hand}"]
    mover = {"w": "White", "b": "Black"}[turn]
    return "\n".join([*lines, "", f"{mover} to move"])


Pieces = Mapping[str, tuple[str, int, str, str]]
"""By its text: the look of a piece, the seat of its owner, the letters on it, and its name."""
