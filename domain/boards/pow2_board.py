"""The Power of Two board: 64 intersections of 44 straight lines, as tables computed at import.

The board is a square of side 48, x to the right and y down. Coordinates are in fifteenths, because
all crossings are whole numbers then. The tables follow from the ends of the lines: intersections
are the crossings, each named after its cell in a 13 x 13 grid.

An intersection is an index from 0 to 63 in sorting order (column letter, then row number:
a1 a5 a7 a9 a13 b4 ...). A set of intersections is an int with those bits set.

The Power of Two board in SVG, computed from the tables of the rules.

The Power of Two board as text: two constant templates with 64 marks to fill in.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations, pairwise
from typing import Final

import msgspec

from domain.boards.pieces import PLACES_KEPT, RING, PieceKind, PieceKinds, where_pieces_are
from domain.boards.sets import bits, union_over
from domain.game.painter import (
    WIDTH,
    BoardInput,
    Markup,
    Picture,
    PlayerCaption,
    Point,
    element,
    group,
    outline,
    place,
    ring,
    stone,
    text_line,
)
from domain.game.protocol import TextInput, TextPlace, UnreadableMove
from domain.game.schemas import one_of
from domain.sentences import (
    ENGLISH,
    ArgumentForm,
    FormWords,
    Sentences,
    Text,
    Translation,
    counted,
    list_in_words,
    names,
    text_in,
    with_messages,
)

GridPoint = tuple[int, int]
Reach = tuple[tuple[int, int], ...]
"""Destinations, each with the set of its adjacent intersections."""
Slides = tuple[tuple[tuple[int, dict[int, Reach]], ...], ...]
"""For each origin and each line through it: the rest of the line, and the destinations along it by
the occupied part of that rest."""

_BORDER: Final = "a1-a13 m1-m13 a1-m1 a13-m13"
_LONG: Final = f"""
    {_BORDER} e1-e13 i1-i13 a5-m5 a9-m9
    g1-g5 g9-g13 a7-e7 i7-m7
    a1-f6 h8-m13 m1-h6 a13-f8
    a1-g13 a1-m7 m1-a7 m1-g13 a13-g1 a13-m7 m13-g1 m13-a7
    a7-g1 g1-m7 m7-g13 g13-a7
    a5-e1 i1-m5 a9-e13 i13-m9
    e7-g5 g5-i7 i7-g9 g9-e7"""
_SHORT: Final = "b4-d4 d2-d4 j2-j4 l4-j4 b10-d10 d12-d10 l10-j10 j12-j10"

# the ends of the long lines, by column letter or row number, in fifteenths
_ENDS: Final = {1: 0, 5: 240, 6: 300, 7: 360, 8: 420, 9: 480, 13: 720}
# the cell of each coordinate up to the middle; 16/3 is 80 fifteenths, 48/5 is 144
_HALF: Final = {0: 1, 80: 2, 120: 3, 144: 3, 160: 4, 180: 4, 240: 5, 288: 6, 300: 6, 360: 7}
_CELLS: Final = _HALF | {720 - at: 14 - cell for at, cell in _HALF.items()}


def _column(letter: str) -> int:
    return ord(letter) - ord("a") + 1


def _end(name: str) -> GridPoint:
    return _ENDS[_column(name[0])], _ENDS[int(name[1:])]


def _crossing(
    one: tuple[GridPoint, GridPoint], other: tuple[GridPoint, GridPoint]
) -> GridPoint | None:
    """Return the point that two straight lines share, if any."""
    (ax, ay), (bx, by) = one
    (cx, cy), (dx, dy) = other
    scale = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if scale == 0:
        return None
    along = (cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)
    across = (cx - ax) * (by - ay) - (cy - ay) * (bx - ax)
    if not (0 <= along * scale <= scale * scale and 0 <= across * scale <= scale * scale):
        return None
    return ax + along * (bx - ax) // scale, ay + along * (by - ay) // scale


def _name(point: GridPoint) -> str:
    return f"{chr(ord('a') + _CELLS[point[0]] - 1)}{_CELLS[point[1]]}"


def _cross_lines() -> tuple[dict[str, GridPoint], list[list[str]]]:
    """Return the points of all intersections, and each line's intersections from end to end."""
    ends = [(_end(a), _end(b)) for a, b in (line.split("-") for line in _LONG.split())]
    crossed: list[set[GridPoint]] = [set() for _ in ends]
    for (i, one), (j, other) in combinations(enumerate(ends), 2):
        if point := _crossing(one, other):
            crossed[i].add(point)
            crossed[j].add(point)
    long = [[_name(point) for point in sorted(points)] for points in crossed]
    short = [line.split("-") for line in _SHORT.split()]
    return {_name(point): point for points in crossed for point in points}, long + short


POINTS, _lines = _cross_lines()
NAMES: Final = tuple(sorted(POINTS, key=lambda name: (name[0], int(name[1:]))))
"""The intersections' names; an intersection is an index into them."""
INDEX: Final = {name: index for index, name in enumerate(NAMES)}
INTERSECTION: Final = one_of(NAMES)
"""A regular expression of their names."""
EVERYWHERE: Final = (1 << len(NAMES)) - 1
"""The set of all intersections."""
LINES: Final = tuple(tuple(INDEX[name] for name in line) for line in _lines)
"""The intersections of each line from end to end; the four outer edges come first."""
OUTER: Final = LINES[:4]
EDGES: Final = tuple(edge for line in LINES for edge in pairwise(line))


def set_of(intersections: tuple[int, ...]) -> int:
    """Return the set of these intersections."""
    return sum(1 << at for at in intersections)


def names_of(board: int) -> list[str]:
    """Return the names of a set's intersections, in sorting order."""
    return [NAMES[at] for at in bits(board)]


def _adjacent() -> tuple[int, ...]:
    near = [0] * len(NAMES)
    for a, b in EDGES:
        near[a] |= 1 << b
        near[b] |= 1 << a
    return tuple(near)


ADJACENT: Final = _adjacent()
"""For each intersection, the set of those one edge away. If `a` and `b` are adjacent, they form
triangles with `ADJACENT[a] & ADJACENT[b]`."""
adjacent_to: Final = union_over(ADJACENT)
"""Return all intersections one edge away from any of a set."""
TRIANGLES: Final = tuple(
    (a, b, c) for a, b in map(sorted, EDGES) for c in bits(ADJACENT[a] & ADJACENT[b]) if c > b
)


def _between(lines: tuple[tuple[int, ...], ...]) -> tuple[dict[int, int], ...]:
    between: tuple[dict[int, int], ...] = tuple({} for _ in NAMES)
    for line in lines:
        for start, stop in combinations(range(len(line)), 2):
            inside = set_of(line[start + 1 : stop])
            between[line[start]][line[stop]] = between[line[stop]][line[start]] = inside
    return between


BETWEEN: Final = _between(LINES)
"""For each intersection, those on a common line, with the set of the intersections between."""
BETWEEN_INSIDE: Final = _between(LINES[4:])
"""The same without the four outer edges."""


def _along(ray: tuple[int, ...]) -> list[tuple[int, Reach]]:
    """Return each occupation of a ray (nearest intersection first) with its destinations."""
    reaches: list[tuple[int, Reach]] = [(0, ())]
    for at in reversed(ray):
        step = ((at, ADJACENT[at]),)
        blocked: list[tuple[int, Reach]] = [(occupied | 1 << at, ()) for occupied, _ in reaches]
        reaches = [(occupied, step + reach) for occupied, reach in reaches] + blocked
    return reaches


def _slides(lines: tuple[tuple[int, ...], ...], steps: int = len(NAMES)) -> Slides:
    slides: list[list[tuple[int, dict[int, Reach]]]] = [[] for _ in NAMES]
    for line in lines:
        for index, origin in enumerate(line):
            before, after = line[:index][::-1][:steps], line[index + 1 :][:steps]
            back, ahead = _along(before), _along(after)
            table = {one | other: near + far for one, near in back for other, far in ahead}
            slides[origin].append((set_of(before + after), table))
    return tuple(map(tuple, slides))


SLIDES: Final = _slides(LINES)
SLIDES_INSIDE: Final = _slides(LINES[4:])
"""The same without the four outer edges."""
SLIDES_SHORT: Final = _slides(LINES, 2)
"""No farther than two intersections along the line."""


LINE_SETS: Final = tuple(map(set_of, LINES))
"""The intersections of each line, as sets."""


def _on_common_line(at: int) -> int:
    seen = 0
    for line in LINE_SETS:
        if line >> at & 1:
            seen |= line
    return seen


ON_COMMON_LINE: Final = tuple(map(_on_common_line, range(len(NAMES))))
"""For each intersection, the set of all on a common line, itself included."""
on_common_lines: Final = union_over(ON_COMMON_LINE)
"""Return all intersections on a common line with any of a set, those of the set included."""


def _jumps() -> tuple[tuple[tuple[int, int, int], ...], ...]:
    jumps: list[list[tuple[int, int, int]]] = [[] for _ in NAMES]
    for line in LINES:
        for a, over, b in zip(line, line[1:], line[2:], strict=False):
            jumps[a].append((b, 1 << over, 1 << b))
            jumps[b].append((a, 1 << over, 1 << a))
    return tuple(tuple(sorted(found)) for found in jumps)


JUMPS: Final = _jumps()
"""For each intersection, the landings of jumps over the next one on a line, in sorting order, each
with the set of the intersection jumped over and the set of the landing."""


# --- helpers for the games on this board

SAY: Final = Sentences(
    "",
    {
        "no-place": "{name!r} isn't an intersection; {form}",
        "gap": "an intersection is missing; {form}",
    },
)


def intersection(name: str, form: Text) -> int:
    """Return the index of an intersection; `form` is the hint in the refusal of a wrong name."""
    try:
        return INDEX[name]
    except KeyError:
        problem = SAY("no-place", name=name[:24], form=form) if name else SAY("gap", form=form)
        raise UnreadableMove(problem) from None


def stones_json(light: int, dark: int = 0) -> dict[str, str]:
    """Return the stones of two colours by name, for JSON forms."""
    return {NAMES[at]: "o" if light >> at & 1 else "x" for at in bits(light | dark)}


def unopposed(own: int, other: int) -> int:
    """Return the empty intersections without a stone of the other colour on any line through them."""
    return EVERYWHERE & ~(own | on_common_lines(other))


# --- how sentences name places

PLACE: Final = names(*NAMES)
"""The form of an intersection, by its index."""


def _names_joined(joint: str) -> ArgumentForm:
    @with_messages(joint)
    def joined(board: int, words: FormWords) -> str:
        return list_in_words(names_of(board), words(joint))

    return joined


ALL_PLACES: Final = _names_joined("and")
"""The form of a set of intersections, as in `a13, b10 and d12`."""
ANY_PLACE: Final = _names_joined("or")
STONES: Final = counted("{n} stone", "{n} stones")
"""The form of a number of stones."""


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


@cache
def _line(line: tuple[int, ...], marks: str | None, *, turned: bool) -> tuple[Markup, ...]:
    start, end = NAMES[line[0]], NAMES[line[-1]]
    (ax, ay), (bx, by) = centre_of(start, turned=turned), centre_of(end, turned=turned)
    classes = ["line", *(["edge"] if line in OUTER else []), *([marks] if marks else [])]
    drawn = element(
        "line", class_=" ".join(classes), data_line=f"{start}-{end}", x1=ax, y1=ay, x2=bx, y2=by
    )
    if marks is None or marks not in _OWNED.values():
        return (drawn,)
    inlay = f"inlay {marks.removeprefix('of-')}"
    return drawn, element("line", class_=inlay, x1=ax, y1=ay, x2=bx, y2=by)


def _drawn_lines(marks: Mapping[int, str], *, turned: bool) -> list[Markup]:
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


def _part_way(one: Point, other: Point, part: float) -> Point:
    """Return the point some part of the way from one to another."""
    return one[0] + part * (other[0] - one[0]), one[1] + part * (other[1] - one[1])


def _cut_nearer(area: Sequence[Point], x: float, y: float) -> list[Point]:
    """Cut off the part of an area around the origin that is nearer to another point."""
    beyond = [(corner, corner[0] * x + corner[1] * y - (x * x + y * y) / 2) for corner in area]
    remaining: list[Point] = []
    for (before, was), (corner, far) in zip([beyond[-1], *beyond], beyond, strict=False):
        if (far > 0) != (was > 0):
            remaining.append(_part_way(before, corner, was / (was - far)))
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


@lru_cache(PLACES_KEPT)
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
        *_drawn_lines(marks or {}, turned=turned),
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


LARGE: Final = r"""
     a     b c cdd   e  ff   g   hh  i   jjk k l     m
 1   * - - - - - - - * - - - * - - - * - - - - - - - *    1
     |.\ - _       / |     /.|.\     | \       _ - /.|
     | . \   - _ /       / .   . \       \ _ -   / . |
 2   |  .  \   /*- _ | /  .  |  .  \ | _ -*\   /  .  |    2
 3   |   .   *  .    * _ .       . _ *    .  *   .   |    3
 3   |    ./- _\ . / |  *- _ | _ -*  | \ . /_ -\.    |    3
 4   |   / *    -*     .   _ * _   .     *-    * \   |    4
     | /    .  /   \ |._ -   |   - _.| /   \  .    \ |
 5   * - - - * - - _ * - - - * - - - * _ - - * - - - *    5
     |     /  ._ -  .| \   /   \   / |.  - _.  \     |
 6   |   / _ - *   .     *       *     .   * - _ \   |    6
     | / -      . .  | /           \ |  . .      - \ |
 7   * - - - - - * - *     P o T     * - * - - - - - *    7
     | \ - _    . .  | \           / |  . .    _ - / |
 8   |   \   - *   .     *       *     .   * -   /   |    8
     |     \  .  - _.| /   \   /   \ |._ -  .  /     |
 9   * - - - * - - - * _ - - * - - _ * - - - * - - - *    9
     | \    .  \   / |.  - _ | _ -  .| \   /  .    / |
10   |   \ *  _ -*     .   _ * _   .     *- _  * /   |   10
11   |    .\-  / . \ | _*-   |   -*_ | / . \  -/.    |   11
11   |   .   *  .  _ *   .       .   * _  .  *   .   |   11
12   |  .  /   \*-   | \  .  |  .  / |   -*/   \  .  |   12
     | . / _ -   \       \ .   . /       /   - _ \ . |
     |./ -         \ |     \.|./     | /         - \.|
13   * - - - - - - - * - - - * - - - * - - - - - - - *   13
     a     b c cdd   e  ff   g   hh  i   jjk k l     m
"""

SMALL: Final = r"""
   a b c d e f g h i j k l m
 1 * - - - * - * - * - - - *  1
 2 |     * |   |   | *     |  2
 3 |   *   * * | * *   *   |  3
 4 | *   * |   *   | *   * |  4
 5 * - * - * - * - * - * - *  5
 6 |   *   | *   * |   *   |  6
 7 * - - * *  PoT  * * - - *  7
 8 |   *   | *   * |   *   |  8
 9 * - * - * - * - * - * - *  9
10 | *   * |   *   | *   * | 10
11 |   *   * * | * *   *   | 11
12 |     * |   |   | *     | 12
13 * - - - * - * - * - - - * 13
   a b c d e f g h i j k l m
"""

# in the large drawing four marks of rows 3 and 11 are on separate lines, nearer the middle
_OWN_LINE: Final = {"f3": 3.5, "h3": 3.5, "f11": 10.5, "h11": 10.5}


def _reading_order(own_line: Mapping[str, float]) -> tuple[str, ...]:
    """Return the intersections in the order of their marks in a template."""
    return tuple(sorted(NAMES, key=lambda name: (own_line.get(name, int(name[1:])), name[0])))


_TEMPLATES: Final = {
    "large": (LARGE.strip("\n").replace("*", "{}"), _reading_order(_OWN_LINE)),
    "small": (SMALL.strip("\n").replace("*", "{}"), _reading_order({})),
}


def _marks(template: str, order: tuple[str, ...]) -> tuple[TextPlace, ...]:
    """Return where each mark of a template is."""
    found = [
        (line, column)
        for line, letters in enumerate(template.strip("\n").splitlines())
        for column, letter in enumerate(letters)
        if letter == "*"
    ]
    return tuple(TextPlace(name, *at) for name, at in zip(order, found, strict=True))


_MARKS: Final = {
    "large": _marks(LARGE, _TEMPLATES["large"][1]),
    "small": _marks(SMALL, _TEMPLATES["small"][1]),
}

_ABOVE: Final = 2
"""Lines above the board in `board_below`."""


def draw_board(pieces: Mapping[str, str], display: str) -> str:
    """Draw the board with a letter for each piece, and `*` for each empty intersection."""
    template, order = _TEMPLATES[display]
    return template.format(*(pieces.get(name, "*") for name in order))


def board_below(line: str, view: TextInput) -> str:
    """Draw the board of a position below a line of counts."""
    return f"{line}\n\n{draw_board(view.position['board'], view.display)}"


def places_below(view: TextInput) -> Iterator[TextPlace]:
    """Return where each intersection is in what `board_below` returns."""
    for mark in _MARKS[view.display]:
        yield TextPlace(mark.name, mark.line + _ABOVE, mark.column)
