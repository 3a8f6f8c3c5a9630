"""A board of squares: its places by name, and the places around each.

A place is an int, row by row from `a1`, which is at the upper left; columns have letters, rows numbers. A set of
places is an int with those bits set (`domain.boards.sets`).
"""

import re
from string import ascii_lowercase
from typing import Final

from domain.game.protocol import unreadable_move
from domain.sentences import Text

Place = int

_SIDES: Final = ((0, -1), (1, 0), (0, 1), (-1, 0))
_CORNERS: Final = ((1, -1), (1, 1), (-1, 1), (-1, -1))


class SquareGrid:
    """The places of a board with up to 26 columns, as tables."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns: Final = columns
        self.rows: Final = rows
        self.names: Final = tuple(
            f"{ascii_lowercase[column]}{row + 1}"
            for row in range(rows)
            for column in range(columns)
        )
        """The names of the places, such as `c4`, in reading order."""
        self.index: Final = {name: place for place, name in enumerate(self.names)}
        self.rays: Final = tuple(
            tuple(self._ray(place, *step) for step in (*_SIDES, *_CORNERS))
            for place in range(columns * rows)
        )
        """For each place the places in a straight line from it to the edge, in eight directions: those along
        rows and columns first. Where the place is at the edge the line is empty."""
        self.beside: Final = tuple(
            tuple(ray[0] for ray in rays[: len(_SIDES)] if ray) for rays in self.rays
        )
        """For each place those at its sides."""
        self.around: Final = tuple(tuple(ray[0] for ray in rays if ray) for rays in self.rays)
        """For each place those at its sides and corners."""

    def _ray(self, place: Place, across: int, down: int) -> tuple[Place, ...]:
        row, column = divmod(place, self.columns)
        found = []
        while (
            0 <= (row := row + down) < self.rows and 0 <= (column := column + across) < self.columns
        ):
            found.append(self.columns * row + column)
        return tuple(found)

    def read(self, text: str, form: Text, count: int = 1) -> tuple[Place, ...]:
        """Return the places of a move such as `a1-b2`, lenient in case and blanks.

        Raises `UnreadableMove` with `form`, which says how a move is written, unless there are so many.
        """
        names = "".join(text.split()).lower().split("-")
        if not text.isascii() or len(names) != count or not self.index.keys() >= {*names}:
            raise unreadable_move(text, form)
        return tuple(self.index[name] for name in names)

    def in_text(self, text: str) -> tuple[str, ...]:
        """Return the names of places in a text, such as a move, in their order."""
        words = re.findall(r"(?<![a-z0-9])[a-z][1-9][0-9]?(?![a-z0-9])", text)
        return tuple(name for name in words if name in self.index)
