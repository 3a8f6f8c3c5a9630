"""The Power of Two board: 64 intersections of 44 straight lines, as tables computed at import.

The board is a square of side 48, x to the right and y down. Coordinates are in fifteenths, because
all crossings are whole numbers then. The tables follow from the ends of the lines: intersections
are the crossings, each named after its cell in a 13 x 13 grid.

An intersection is an index from 0 to 63 in sorting order (column letter, then row number:
a1 a5 a7 a9 a13 b4 ...). A set of intersections is an int with those bits set.
"""

from itertools import combinations, pairwise
from typing import Final

from domain.boards.sets import bits, union_over
from domain.game.protocol import UnreadableMove
from domain.sentences import (
    ArgumentForm,
    FormWords,
    Sentences,
    Text,
    counted,
    list_in_words,
    names,
    with_messages,
)

Point = tuple[int, int]
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


def _end(name: str) -> Point:
    return _ENDS[_column(name[0])], _ENDS[int(name[1:])]


def _crossing(one: tuple[Point, Point], other: tuple[Point, Point]) -> Point | None:
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


def _name(point: Point) -> str:
    return f"{chr(ord('a') + _CELLS[point[0]] - 1)}{_CELLS[point[1]]}"


def _cross_lines() -> tuple[dict[str, Point], list[list[str]]]:
    """Return the points of all intersections, and each line's intersections from end to end."""
    ends = [(_end(a), _end(b)) for a, b in (line.split("-") for line in _LONG.split())]
    crossed: list[set[Point]] = [set() for _ in ends]
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
        for place, origin in enumerate(line):
            before, after = line[:place][::-1][:steps], line[place + 1 :][:steps]
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
