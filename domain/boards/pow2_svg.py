"""The Power of Two board in SVG, computed from the tables of the rules."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

import msgspec

from domain.boards.pieces import RING, PieceKind, PieceKinds, where_pieces_are
from domain.boards.pow2_board import LINES, NAMES, OUTER, POINTS
from domain.game.painter import (
    WIDTH,
    BoardInput,
    Picture,
    PlayerCaption,
    place,
    ring,
    stone,
)
from domain.game.svg import Markup, Point, element, group, outline, text_line
from domain.sentences import text_in
from domain.translation import ENGLISH, Translation

_SCALE: Final = 0.6
"""Units of the drawing for a fifteenth of the board; coordinates then have at most one decimal."""
_EDGE: Final = 40
"""From the edge of the picture to the outer lines."""
_LABEL: Final = 12
"""From the edge of the picture to the middle of the letters and numbers around the board."""
_REACH: Final = 30
"""The largest distance, along each axis, of a touch that selects a place."""
_COLUMNS: Final = "abcdefghijklm"
_SPOT: Final = 3
_NAME: Final = re.compile("[a-m](?:1[0-3]|[1-9])")

Path = tuple[str, ...]


class MoveTrail(msgspec.Struct, frozen=True):
    """The traces of the last move: its places, the paths of pieces, and those of thrown stones."""

    places: frozenset[str] = frozenset()
    paths: tuple[Path, ...] = ()
    throws: tuple[Path, ...] = ()


def trail_of(text: str) -> MoveTrail:
    """Return the places and paths of a move; words such as `done` have none.

    In all games on this board a hyphen joins two points of a path. Other names are places where a
    piece was set, removed, thrown or picked up.
    """
    ways = [tuple(_NAME.findall(part)) for part in re.split("[:,>]", text)]
    places = frozenset(name for way in ways for name in way if name in POINTS)
    return MoveTrail(places, tuple(way for way in ways if len(way) > 1 and places.issuperset(way)))


def centre_of(name: str, *, turned: bool = False) -> Point:
    """Return the point of an intersection in the picture, which may be turned by 180 degrees."""
    x, y = (_EDGE + _SCALE * along for along in POINTS[name])
    return (WIDTH - x, WIDTH - y) if turned else (x, y)


# --- lines, letters and numbers


_OWNED: Final = {"o": "of-light", "x": "of-dark"}
"""The marks of lines that have an inlay, by the letter of the stones on them."""


def lines_owned(board: Mapping[str, str]) -> dict[int, str]:
    """Return the mark of each line on which stones of one colour stand, in games where all do."""
    found = {}
    for at, line in enumerate(LINES):
        there = [board[NAMES[point]] for point in line if NAMES[point] in board]
        if there:
            found[at] = _OWNED[there[0]]
    return found


def _line(line: tuple[int, ...], marks: str | None, *, turned: bool) -> Iterator[Markup]:
    start, end = NAMES[line[0]], NAMES[line[-1]]
    (ax, ay), (bx, by) = centre_of(start, turned=turned), centre_of(end, turned=turned)
    classes = ["line", *(["edge"] if line in OUTER else []), *([marks] if marks else [])]
    yield element(
        "line", class_=" ".join(classes), data_line=f"{start}-{end}", x1=ax, y1=ay, x2=bx, y2=by
    )
    if marks and marks in _OWNED.values():
        yield element(
            "line", class_=f"inlay {marks.removeprefix('of-')}", x1=ax, y1=ay, x2=bx, y2=by
        )


def _lines(marks: Mapping[int, str], *, turned: bool) -> list[Markup]:
    """Return the lines: inner ones first, because the outer edges are to cover their ends.

    Marked ones come last, each kind by itself.
    """
    inwards = sorted(enumerate(LINES), key=lambda found: (marks.get(found[0], ""), -found[0]))
    return [part for at, line in inwards for part in _line(line, marks.get(at), turned=turned)]


def _middle(places: Iterable[Point], axis: int) -> float:
    """Return the middle of a column or row, whose places may lie at different coordinates."""
    along = [at[axis] for at in places]
    return (min(along) + max(along)) / 2


@cache
def _labels(*, turned: bool) -> tuple[Markup, ...]:
    """Return the letters above and below, the numbers at both sides, and the logo in the middle."""
    drawn, centres = [], {name: centre_of(name, turned=turned) for name in NAMES}
    for row, letter in enumerate(_COLUMNS, 1):
        across = _middle((at for name, at in centres.items() if name[0] == letter), 0)
        down = _middle((at for name, at in centres.items() if name[1:] == str(row)), 1)
        for side in (_LABEL, WIDTH - _LABEL):
            drawn += [
                text_line(letter, (across, side), class_="label"),
                text_line(str(row), (side, down), class_="label"),
            ]
    return (*drawn, text_line("P o T", (WIDTH / 2, WIDTH / 2), class_="mark"))


# --- places


def _between(one: Point, other: Point, part: float) -> Point:
    """Return the point some part of the way from one to another."""
    return one[0] + part * (other[0] - one[0]), one[1] + part * (other[1] - one[1])


def _cut_nearer(area: Sequence[Point], x: float, y: float) -> list[Point]:
    """Cut off the part of an area around the origin that is nearer to another point."""
    beyond = [(corner, corner[0] * x + corner[1] * y - (x * x + y * y) / 2) for corner in area]
    remaining: list[Point] = []
    for (before, was), (corner, far) in zip([beyond[-1], *beyond], beyond, strict=False):
        if (far > 0) != (was > 0):
            remaining.append(_between(before, corner, was / (was - far)))
        if far <= 0:
            remaining.append(corner)
    return remaining


@cache
def area_of(name: str, *, turned: bool = False) -> tuple[Point, ...]:
    """Return the area, with the intersection as origin, in which a touch selects it.

    It is the part of a square, `_REACH` to each side, that is nearer to this intersection than to
    any other, so areas never overlap.
    """
    x, y = centre_of(name, turned=turned)
    area: list[Point] = [(-_REACH, -_REACH), (_REACH, -_REACH), (_REACH, _REACH), (-_REACH, _REACH)]
    for ox, oy in (centre_of(other, turned=turned) for other in NAMES):
        if (ox, oy) != (x, y):
            area = _cut_nearer(area, ox - x, oy - y)
    return tuple(area)


def _place(
    name: str, kind: PieceKind | None, language: Translation, *, last: bool, turned: bool
) -> Markup:
    inside = [element("path", class_="hit", d=outline(area_of(name, turned=turned)))]
    if last:
        inside.append(ring(kind.ring if kind else RING, gone=kind is None))
    inside.append(kind.piece() if kind else element("circle", class_="spot", r=_SPOT))
    title = f"{name}: {text_in(kind.title, language)}" if kind else name
    return place(name, centre_of(name, turned=turned), title, *inside, last=last)


def _way(path: Path, classes: str, *, turned: bool) -> Markup:
    points = " ".join("{:g},{:g}".format(*centre_of(name, turned=turned)) for name in path)
    return element("polyline", class_=classes, points=points)


def draw_svg_board(
    stones: Mapping[str, PieceKind],
    trail: MoveTrail,
    marks: Mapping[int, str] | None = None,
    *,
    turned: bool = False,
    language: Translation = ENGLISH,
) -> tuple[Markup, ...]:
    """Draw the board with its pieces; `marks` are CSS classes for some of `LINES`."""
    return (
        *_lines(marks or {}, turned=turned),
        *_labels(turned=turned),
        *(_way(path, "trail", turned=turned) for path in trail.paths),
        *(_way(path, "trail thrown", turned=turned) for path in trail.throws),
        *(
            _place(name, stones.get(name), language, last=name in trail.places, turned=turned)
            for name in NAMES
        ),
    )


# --- whole pictures

FIGURE: Final = 15
FIGURE_RING: Final = 19
"""The sizes of a figure, and of the mark of the last move around it."""


def board_picture(
    view: BoardInput,
    kinds: PieceKinds,
    beside: Sequence[PlayerCaption],
    trail: MoveTrail | None = None,
    marks: Mapping[int, str] | None = None,
) -> Picture:
    """Draw the board of a position, and list the places of each kind of piece."""
    letters = view.position["board"]
    stones = {name: kinds[letter] for name, letter in letters.items()}
    drawn = draw_svg_board(
        stones, trail or trail_of(view.last), marks, turned=view.turned, language=view.language
    )
    return Picture(drawn, WIDTH, tuple(beside), where_pieces_are(view, kinds))


# --- figures


def puzzle_line_figure(kind: str) -> Markup:
    """Return a figure of a line with a mark."""
    return element("path", class_=f"line {kind}", d="M-16 12L16 -12")


def line_figure(look: str) -> Markup:
    """Return a figure of a line that belongs to the stones of a look."""
    inlay = element("path", class_=f"inlay {look}", d="M-16 12L16 -12")
    return group(puzzle_line_figure(f"of-{look}"), inlay, group(*stone(look, 8), class_=look))
