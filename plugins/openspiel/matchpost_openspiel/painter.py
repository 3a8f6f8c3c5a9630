"""The boards of OpenSpiel's games in SVG, drawn from what their texts say."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, groupby, pairwise
from math import cos, dist, pi, sin
from typing import Final

import msgspec

from domain.boards.drawn import BoardFace, hit_square, paint_board
from domain.boards.pieces import PieceKind, PieceKinds
from domain.game.painter import (
    WIDTH,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    icon,
    number,
    outline,
    place,
    ring,
    stone,
    text_line,
)
from domain.game.protocol import TextInput, TextPlace
from matchpost_openspiel.board import Board, Cell, Shape, links
from matchpost_openspiel.spiel import Spiel

_EDGE: Final = 32
_LARGEST: Final = 100
"""The largest side of a square."""
_TOKEN: Final = 56
"""The same of a square with a token of Nim."""
_STONE, _RING, _PIT = 0.38, 0.46, 0.42
"""Radii, as parts of the distance between two places."""
_MANY: Final = 100
"""On larger boards a stone is drawn with fewer parts."""
_LETTER: Final = 18
"""The size of the style sheet's letters."""
_NOTE: Final = 28
"""The height of a line below the board."""
_PLACE: Final = re.compile(r"[a-z]*\d+|[a-z]{2}(?![a-z])")
_SQUARES: Final = (Shape.SQUARES, Shape.CHECKERED, Shape.CROSSINGS)
_Where = tuple[str, int, int, int, int]
"""A cell without its content."""


class Plan:
    """A board in units of the drawing: its places and everything below them."""

    def __init__(self, board: Board, cells: Sequence[_Where], text: str, *, turned: bool) -> None:
        self.board: Final = board
        flat = {cell[0]: _flat(board, cell) for cell in cells}
        across, down = (max(point[axis] for point in flat.values()) for axis in (0, 1))
        left = min(point[0] for point in flat.values())
        top = min(point[1] for point in flat.values())
        if turned and board.shape in _SQUARES:
            flat = {name: (across + left - x, down + top - y) for name, (x, y) in flat.items()}
        largest, above = _LARGEST, float(_EDGE)
        if board.heaps:
            left, across, top, down, largest = 0, board.heaps - 1, 0, 6, _TOKEN
        if board.shape is Shape.HEXAGONS:
            above += _EDGE / 2
        self.unit: Final = min((WIDTH - 2 * _EDGE) / (across - left + 1), largest)
        shift = (WIDTH - self.unit * (across - left)) / 2
        self.centres: Final[Mapping[str, Point]] = {
            name: (shift + self.unit * (x - left), above + self.unit * (y - top + 0.5))
            for name, (x, y) in flat.items()
        }
        self.cells: Final = cells
        self.height: Final = above + _EDGE + self.unit * (down - top + 1)
        near = [dist(one, other) for one, other in combinations(self.centres.values(), 2)]
        self.step: Final = min(near, default=self.unit)
        hit = (
            hit_square(self.unit)
            if board.shape in _SQUARES
            else element("circle", class_="hit", r=self.step / 2)
        )
        ground = (*self._ground(text), *self._labels())
        self.face: Final = BoardFace(self.centres, hit, ground, self.height, self.step * _RING)

    # --- ground

    def _ground(self, text: str) -> Iterator[Markup]:
        shape = self.board.shape
        if shape is Shape.CROSSINGS:
            yield element("path", class_="line", d="".join(self._crossings()))
        elif shape in _SQUARES:
            yield from self._square_lines()
        elif shape is Shape.HEXAGONS:
            cells = "".join(self._hexagon(at) for at in self.centres.values())
            yield element("path", class_="line", d=cells)
        elif shape is Shape.POINTS:
            yield element("path", class_="line edge", d="".join(self._ways(text)))
            for x, y in self.centres.values():
                yield element("circle", class_="well", cx=x, cy=y, r=self.step * _STONE)
        elif shape is Shape.PEGS:
            for x, y in self.centres.values():
                yield element("circle", class_="spot", cx=x, cy=y, r=3)
        elif shape is Shape.BARS:
            yield from self._dots()

    def _square(self, at: Point) -> str:
        side = number(self.unit)
        corner = f"M{number(at[0] - self.unit / 2)} {number(at[1] - self.unit / 2)}"
        return f"{corner}h{side}v{side}h-{side}z"

    def _square_lines(self) -> Iterator[Markup]:
        rows_and_columns = {cell[0]: (cell[3], cell[4]) for cell in self.cells}
        if self.board.shape is Shape.CHECKERED:
            dark = (
                self._square(self.centres[name])
                for name, (row, at) in rows_and_columns.items()
                if (row + at) % 2
            )
            yield element("path", class_="shade", d="".join(dark))
        every = "".join(map(self._square, self.centres.values()))
        yield element("path", class_="line", d=every)
        if blocks := self.board.blocks:
            size = self.unit * blocks
            first = next(iter(self.centres.values()))
            x, y = first[0] - self.unit / 2, first[1] - self.unit / 2
            count = round(len(self.cells) ** 0.5) // blocks
            for at in range(count * count):
                corner = (x + size * (at % count), y + size * (at // count))
                yield element(
                    "rect", class_="frame", x=corner[0], y=corner[1], width=size, height=size
                )

    def _crossings(self) -> Iterator[str]:
        points = self.centres.values()
        left, right = min(x for x, _ in points), max(x for x, _ in points)
        top, bottom = min(y for _, y in points), max(y for _, y in points)
        for y in sorted({y for _, y in points}):
            yield f"M{number(left)} {number(y)}H{number(right)}"
        for x in sorted({x for x, _ in points}):
            yield f"M{number(x)} {number(top)}V{number(bottom)}"

    def _hexagon(self, at: Point) -> str:
        size = self.unit * 2 / 3
        corners = (pi * (2 * corner + 1) / 6 for corner in range(6))
        return outline((at[0] + size * cos(angle), at[1] + size * sin(angle)) for angle in corners)

    def _ways(self, text: str) -> Iterator[str]:
        """Yield the lines that a text shows between points of the same line or column of it."""
        lines = text.split("\n")
        where = {(line, column): name for name, line, column, _, _ in self.cells}
        by_column = sorted(where, key=lambda one: (one[1], one[0]))
        for (line, column), (end, other) in (*pairwise(where), *pairwise(by_column)):
            if line == end:
                between, joins = lines[line][column + 1 : other], "-"
            else:
                between = "".join(lines[at][column : column + 1] for at in range(line + 1, end))
                joins = "|" if column == other else ""
            if between and joins and not between.strip(joins):
                yield outline(
                    (self.centres[where[line, column]], self.centres[where[end, other]])
                ).rstrip("Z")

    def _dots(self) -> Iterator[Markup]:
        for name, (x, y) in self.centres.items():
            away = self.unit if name[0] == "h" else 0
            for side in (-1, 1):
                at = (x + side * away, y + side * (self.unit - away))
                yield element("circle", class_="spot", cx=at[0], cy=at[1], r=5)

    # --- labels

    def _labels(self) -> Iterator[Markup]:
        shape = self.board.shape
        if shape is Shape.POINTS:
            for name, at in self.centres.items():
                yield text_line(name, at, class_="label")
        elif shape is Shape.PITS:
            for name, (x, y) in self.centres.items():
                yield text_line(name, (x, y + self.unit * 0.62), class_="label")
        elif shape is Shape.HEXAGONS:
            yield from self._slanted_labels()
        elif shape in _SQUARES or shape is Shape.PEGS:
            bottom = self.height - _EDGE / 2
            for at, label in self._common(4):
                yield text_line(label, (at[0], bottom), class_="label")
            left = min(x for x, _ in self.centres.values()) - self.unit / 2 - _EDGE / 2
            for at, label in self._common(3):
                yield text_line(label, (left, at[1]), class_="label")

    def _common(self, axis: int) -> Iterator[tuple[Point, str]]:
        """Yield of each row or column one of its points, and what the names of all its places have in common."""
        for line, group in groupby(
            sorted(self.cells, key=lambda cell: cell[axis]), lambda cell: cell[axis]
        ):
            names = [cell[0] for cell in group]
            if self.board.columns:
                if axis == 4:  # noqa: PLR2004 - as above
                    yield self.centres[names[0]], f"{line + 1}"
                continue
            for part in ("[a-z]+",) if self.board.heaps else ("[a-z]+", r"\d+"):
                found = {label for name in names for label in re.findall(part, name)}
                if len(found) == 1 and (len(names) > 1 or (self.board.heaps and axis == 4)):  # noqa: PLR2004 - as above
                    yield self.centres[names[0]], found.pop()

    def _slanted_labels(self) -> Iterator[Markup]:
        seen = set[str]()
        for name, (x, y) in self.centres.items():
            letter, row = name[0], name[1:]
            if letter not in seen:
                yield text_line(letter, (x - 0.5 * self.unit, y - 0.87 * self.unit), class_="label")
            if row not in seen:
                yield text_line(row, (x - self.unit, y), class_="label")
            seen |= {letter, row}


def _flat(board: Board, cell: _Where) -> Point:
    _, line, column, row, at = cell
    if board.shape in (Shape.HEXAGONS, Shape.POINTS, Shape.PEGS):
        return column * board.across, line
    return at, row * (1.35 if board.shape is Shape.PITS else 1)


@lru_cache(256)
def _plan(board: Board, cells: tuple[_Where, ...], text: str, *, turned: bool) -> Plan:
    return Plan(board, cells, text, turned=turned)


@lru_cache(256)
def _kinds(spiel: Spiel, step: float, many: bool) -> PieceKinds:  # noqa: FBT001 - cached by position
    """Return the pieces in a size that fits the board."""
    size = step * _STONE
    return {
        written: PieceKind(
            f"{look} stone", max(seat, 0), name, (*stone(look, size, short=many), *_lettered(letters, size)),
            step * _RING, min(1, 13 / size),
        )
        if spiel.board.shape is not Shape.BARS
        else PieceKind(f"{look} stone", 0, name, (_bar(written, step),), step * 0.2)
        for written, (look, seat, letters, name) in spiel.pieces.items()
    }  # fmt: skip


def _lettered(letters: str, size: float) -> Iterable[Markup]:
    """Return the letters on a piece, as large as it has room for."""
    if letters:
        scale = size * (1.25 if len(letters) == 1 else 0.95) / _LETTER
        yield element(
            "g", text_line(letters, (0, 0), class_="letter"), transform=f"scale({number(scale)})"
        )


def _bar(kind: str, step: float) -> Markup:
    half = number(step / 2**0.5)
    return element(
        "path",
        class_="line of-dark",
        d=f"M-{half} 0H{half}" if kind == "h" else f"M0-{half}V{half}",
    )


class SpielPainter:
    """Draws positions of one game."""

    def __init__(self, spiel: Spiel) -> None:
        self._spiel: Final = spiel

    def paint(self, view: BoardInput) -> Picture:
        """Draw a position in SVG."""
        board, text = self._spiel.board, view.position["text"]
        cells = board.cells(text)
        where = tuple(cell[:5] for cell in cells)
        skeleton = (
            re.sub("[WB]", ".", text.partition("\n\n")[0]) if board.shape is Shape.POINTS else ""
        )
        if not where:
            return self._empty(view)
        plan = _plan(board, where, skeleton, turned=view.turned)
        kinds = _kinds(self._spiel, plan.step, len(cells) > _MANY)
        players, last = self._players(view, kinds), self._last(view, cells)
        if board.shape is Shape.PITS:
            picture = self._pits(plan, cells, players, last)
        else:
            picture = paint_board(plan.face, view, kinds, players, last)
        if board.shape is Shape.PEGS:
            below = len(plan.face.ground)
            linked = tuple(self._links(plan, text))
            body = (*picture.body[:below], *linked, *picture.body[below:])
            picture = msgspec.structs.replace(picture, body=body)
        more = [*self._owners(plan, text)]
        notes = re.findall(board.note, text) if board.note else []
        for at, note in enumerate(notes):
            more.append(
                text_line(note, (WIDTH / 2, picture.height + _NOTE * at), class_="label large")
            )
        height = picture.height + _NOTE * len(notes)
        return Picture((*picture.body, *more), height, picture.players, picture.sentences)

    def _empty(self, view: BoardInput) -> Picture:
        """Draw a board on which nothing is left."""
        nothing = text_line("nothing is left", (WIDTH / 2, _EDGE), class_="label")
        return Picture((nothing,), 2 * _EDGE, self._players(view, {}), ())

    def _last(self, view: BoardInput, cells: Sequence[Cell]) -> list[str]:
        """Return the places of the last move."""
        board, names = self._spiel.board, _PLACE.findall(view.last)
        if board.columns:
            fallen = {cell.at: cell.name for cell in reversed(cells) if cell.content != "."}
            return [fallen[int(name) - 1] for name in names if int(name) - 1 in fallen]
        known = {cell.name for cell in cells}
        return [] if board.heaps else [name for name in names if name in known]

    def _players(self, view: BoardInput, kinds: PieceKinds) -> tuple[PlayerCaption, ...]:
        board, text = self._spiel.board, view.position["text"]
        standing = [*view.position["board"].values()]
        found = []
        for seat in range(2):
            own = [kind for kind, piece in self._spiel.pieces.items() if piece[1] == seat]
            look = self._spiel.pieces[own[0]][0] if own else ("dark", "light")[seat]
            shown = (
                kinds[own[0]].icon()
                if own and own[0] in kinds
                else icon(f"{look} stone", *stone(look, 11))
            )
            count = f"{sum(piece in own for piece in standing)}" if own else ""
            if board.scores:
                count = (re.findall(board.scores[seat], text) or [""])[0]
            elif board.shape is Shape.BARS:
                count = f"{len(re.findall(rf' {seat + 1} ', text))}"
            found.append(PlayerCaption(shown, count))
        return tuple(found)

    def _pits(
        self,
        plan: Plan,
        cells: Sequence[Cell],
        players: Sequence[PlayerCaption],
        last: Sequence[str],
    ) -> Picture:
        """Draw pits with the number of seeds in each."""
        size = plan.unit * _PIT
        drawn = [
            place(
                cell.name, plan.centres[cell.name], f"{cell.name}: {cell.content}", plan.face.hit,
                *([ring(plan.unit * _RING, gone=False)] if cell.name in last else []),
                element("circle", class_="well", r=size),
                text_line(cell.content, (0, 0), class_="number"),
                last=cell.name in last,
            )
            for cell in cells
        ]  # fmt: skip
        said = tuple(f"{cell.name}: {cell.content}." for cell in cells)
        return Picture((*plan.face.ground, *drawn), plan.height, tuple(players), said)

    def _owners(self, plan: Plan, text: str) -> Iterator[Markup]:
        """Yield the number of its owner in each box."""
        if self._spiel.board.shape is Shape.BARS:
            for row, line in enumerate(text.split("\n")[1::2]):
                for at, owner in enumerate(line[2::4]):
                    if owner.strip():
                        x, y = plan.centres[f"h{row + 1}{at + 1}"]
                        yield text_line(owner, (x, y + plan.unit), class_="number")

    def _links(self, plan: Plan, text: str) -> Iterator[Markup]:
        """Yield the links between pegs, each in its owner's colour."""
        for one, other, content in links(text, plan.cells):
            look = self._spiel.pieces[content][0]
            way = outline((plan.centres[one], plan.centres[other])).removesuffix("Z")
            yield element("path", class_=f"line of-{look}", d=way)
            yield element("path", class_=f"line inlay {look}", d=way)


def draw_text(view: TextInput) -> str:
    """Return a position as OpenSpiel writes it."""
    return str(view.position["text"])


def text_places(spiel: Spiel) -> Callable[[TextInput], Iterable[TextPlace]]:
    """Return where each place of a game is in that text."""

    def found(view: TextInput) -> Iterator[TextPlace]:
        if not spiel.board.row:
            return
        for cell in spiel.board.cells(view.position["text"]):
            yield TextPlace(cell.name, cell.line, cell.column, max(1, len(cell.content)))

    return found
