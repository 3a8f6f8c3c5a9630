"""A board of two rows of pits, with seeds in them and a store for each player, as in games of the mancala family.

A pit is an int in the order in which seeds are sown, anticlockwise: the row below from left to right, then the
row above from right to left. Columns have letters; row 1 is below.

Such a board as text and in SVG. The JSON form has the seeds by pit in `board`, and those in the stores in `captured`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import cos, pi, sin, sqrt
from string import ascii_lowercase
from typing import Final

from domain.boards.pieces import PLACES_KEPT
from domain.game.painter import (
    WIDTH,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    group,
    icon,
    number,
    piece,
    place,
    ring,
    stone,
    text_line,
)
from domain.game.protocol import TextPlace, unreadable_move
from domain.sentences import Sentence, Text

Pit = int


class PitBoard:
    """The pits of a board with so many columns."""

    def __init__(self, columns: int) -> None:
        letters = ascii_lowercase[:columns]
        self.columns: Final = columns
        self.letters: Final = letters
        self.names: Final = tuple(f"{one}1" for one in letters) + tuple(
            f"{one}2" for one in reversed(letters)
        )
        """The names of the pits, such as `c1`, in the order of sowing."""
        self.index: Final = {name: pit for pit, name in enumerate(self.names)}
        self.rows: Final = (self.names[:columns], self.names[columns:])
        """The names of each player's pits."""

    def read(self, text: str, form: Text) -> Pit:
        """Return the pit that a text names, lenient in case and blanks.

        Raises `UnreadableMove` with `form`, which says how a move is written.
        """
        pit = self.index.get("".join(text.split()).lower()) if text.isascii() else None
        if pit is None:
            raise unreadable_move(text, form)
        return pit


# --- text

_CELL: Final = 4
"""Columns of the text for a pit."""
_MARGIN: Final = 2
"""Columns of the text to the left of the pits."""


def pit_text(board: PitBoard, seeds: Mapping[str, int], captured: Sequence[int]) -> str:
    """Draw the pits with their seeds, and beside each row what its player has captured."""
    letters = " " * _MARGIN + "".join(f"{letter:>{_CELL - 1}} " for letter in board.letters)
    rows = []
    for row, names in ((2, board.rows[1][::-1]), (1, board.rows[0])):
        pits = "".join(f"({seeds[name] or '.':>{_CELL - 2}})" for name in names)
        rows.append(f"{row} {pits} {row}  [{captured[row - 1]:>2}]")
    return "\n".join([letters.rstrip(), *rows, letters.rstrip()])


def pit_places(board: PitBoard) -> Iterator[TextPlace]:
    """Return where each pit is in what `pit_text` returns."""
    for name in board.names:
        column = _MARGIN + _CELL * board.letters.index(name[0])
        yield TextPlace(name, 3 - int(name[1]), column, _CELL)


# --- SVG

_LOOKS: Final = ("light", "dark")
"""The look of the row below, and of the row above."""
_EDGE: Final = 6
"""From the edge of the picture to the block in which the pits are."""
_STORE: Final = 36
"""From the edge of the picture to the middle of a store."""
_ENDS: Final = 68
"""From the edge of the picture to the first pit: as wide are the ends of the block."""
_HALF, _MIDDLE = 95, 125
"""Half the height of the block, and how far its middle is from the upper edge."""
_ROW: Final = 33
"""From the middle of the block to the middles of a row's pits."""
_PIT, _RING, _STORE_SIZE = 28, 30, 21
_COUNT, _NAME = 78, 109
"""From the middle of the block to the numbers of seeds, and to the names of pits."""
_SEED: Final = 5.2
_APART: Final = 6.3
"""How far seeds lie apart if there are few."""
_GOLDEN: Final = pi * (3 - sqrt(5))


def _heap(count: int, room: float) -> Markup:
    """Return seeds within so many units of the origin: as in a sunflower, and with their middle there."""
    step = min(_APART, room / sqrt(count))
    points = [_turned(step * sqrt(at + 0.5), at * _GOLDEN) for at in range(count)]
    x, y = sum(one[0] for one in points) / count, sum(one[1] for one in points) / count
    return _seeds((across - x, down - y) for across, down in points)


def _turned(length: float, angle: float) -> Point:
    return length * cos(angle), length * sin(angle)


def _pile(count: int) -> Markup:
    """Return the seeds in a store: from its lower end upwards, three in a row."""
    step = min(9.6, 2 * _ROW * 1.45 / max(1, (count - 1) // 3))
    return _seeds(
        ((at % 3 - 1) * 10.5 + at // 3 % 2 * 2 - 1, 1.45 * _ROW - at // 3 * step)
        for at in range(count)
    )


def _seeds(points: Iterable[Point]) -> Markup:
    """Return seeds, which look the same in each row, because they belong to nobody."""
    drawn = (element("circle", class_="body", cx=x, cy=y, r=_SEED) for x, y in points)
    return group(*drawn, class_="third")


class _Face:
    """The parts of a drawn board that all of its positions share."""

    def __init__(self, board: PitBoard, *, turned: bool) -> None:
        """Lay out a board; on a turned one the row above is below."""
        self.names: Final = board.names
        self.sides: Final = (-1, 1) if turned else (1, -1)
        """For each seat whether its row is below (1) or above (-1), and its store to the right or the left."""
        step = (WIDTH - 2 * _ENDS) / board.columns
        self.centres: Final = {
            name: (WIDTH / 2 + side * step * (at + 0.5 - board.columns / 2), _MIDDLE + side * _ROW)
            for side, row in zip(self.sides, board.rows, strict=True)
            for at, name in enumerate(row)
        }
        self.seats: Final = {name: seat for seat, row in enumerate(board.rows) for name in row}
        self.stores: Final = [
            (WIDTH / 2 + side * (WIDTH / 2 - _STORE), _MIDDLE) for side in self.sides
        ]
        wide, high = WIDTH - 2 * _EDGE, 2 * _HALF
        block = element(
            "rect", class_="star", x=_EDGE, y=_MIDDLE - _HALF, width=wide, height=high, rx=32
        )
        hollows = [
            group(
                *(_hollow(self.centres[name], _PIT) for name in row),
                _hollow(self.stores[seat], _STORE_SIZE, _ROW + 8),
                class_=_LOOKS[seat],
            )
            for seat, row in enumerate(board.rows)
        ]
        labels = (
            text_line(name, (x, _MIDDLE + self.sides[self.seats[name]] * _NAME), class_="label")
            for name, (x, _) in self.centres.items()
        )
        self.ground: Final = (block, *hollows, *labels)

    @lru_cache(PLACES_KEPT)  # noqa: B019 - there are two faces of a board, which are kept
    def pit(self, name: str, count: int, title: str, *, last: bool) -> Markup:
        """Return a pit with its seeds, their number, and the mark of the last move."""
        seat = self.seats[name]
        out, wide = self.sides[seat], 2 * _ROW - 4
        inside = [
            element(
                "rect", class_="hit", x=-wide / 2, y=(out - 1) * 11 - _ROW, width=wide, height=88
            )
        ]
        if last:
            inside.append(ring(_RING, gone=not count))
        if count:
            inside.append(piece(f"{_LOOKS[seat]} seeds", seat, _heap(count, _PIT - _SEED - 3)))
        inside.append(text_line(str(count), (0, out * (_COUNT - _ROW)), class_="left"))
        return place(name, self.centres[name], f"{name}: {title}", *inside, last=last)

    def store(self, seat: int, count: int) -> Markup:
        """Return the captured seeds of a player, and their number."""
        number_of = text_line(str(count), (0, self.sides[seat] * _COUNT), class_="left")
        return group(_pile(count), number_of, at=self.stores[seat])


_face: Final = cache(_Face)


def _hollow(at: Point, size: float, straight: float = 0) -> Markup:
    """Return a hollow with straight sides of half that length, and the shade at its upper left."""
    (x, y), part = at, size * sqrt(0.5)
    body = element(
        "rect",
        class_="body",
        x=x - size,
        y=y - size - straight,
        width=2 * size,
        height=2 * (size + straight),
        rx=size,
    )
    low, top = number(y + straight), number(y - straight)
    shade = (
        f"M{number(x - size)} {low}V{top}A{size} {size} 0 0 1 {number(x + part)} "
        f"{number(y - straight - part)}A{size} {size} 0 0 0 {number(x - 0.72 * size)} {top}V{low}Z"
    )
    return Markup(body + element("path", class_="shade", d=shade))


def pit_figure(look: str, count: int) -> Markup:
    """Return the figure of a pit in a player's row."""
    return group(element("circle", class_="body", r=17), _heap(count, 10), class_=look)


def paint_pits(
    board: PitBoard,
    view: BoardInput,
    title: Callable[[int], Sentence],
    counts: Sequence[Sentence],
    last: Collection[str],
) -> Picture:
    """Draw the seeds of a position, and list where they are.

    `title` names a number of seeds, `counts` are shown beside the players' names, `last` are the pits of the last move.
    """
    face, language = _face(board, turned=view.turned), view.language
    titles = {
        name: title(count).in_language(language) for name, count in view.position["board"].items()
    }
    stores = (face.store(*each) for each in enumerate(view.position["captured"]))
    pits = (
        face.pit(name, view.position["board"][name], titles[name], last=name in last)
        for name in board.names
    )
    players = tuple(
        PlayerCaption(
            icon(f"{look} seeds", *stone(look, 15)[:2], _heap(3, 8)), count.in_language(language)
        )
        for look, count in zip(_LOOKS, counts, strict=True)
    )
    where = tuple(f"{name}: {said}." for name, said in titles.items())
    return Picture((*face.ground, *stores, *pits), 2 * _MIDDLE, players, where)
