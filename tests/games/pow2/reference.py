"""The Power of Two once more: slow, by sets of names and brute force, sharing no code.

Lines are found by exact fractions, placements by trying every order of the empty neighbours.
"""

from fractions import Fraction
from itertools import combinations, pairwise, permutations

OUTER = "a1-a13 m1-m13 a1-m1 a13-m13"
LINES = f"""
{OUTER} e1-e13 i1-i13 a5-m5 a9-m9 g1-g5 g9-g13 a7-e7 i7-m7 a1-f6 h8-m13 m1-h6 a13-f8
a1-g13 a1-m7 m1-a7 m1-g13 a13-g1 a13-m7 m13-g1 m13-a7 a7-g1 g1-m7 m7-g13 g13-a7
a5-e1 i1-m5 a9-e13 i13-m9 e7-g5 g5-i7 i7-g9 g9-e7
b4-d4 d2-d4 j2-j4 l4-j4 b10-d10 d12-d10 l10-j10 j12-j10"""
WHERE = {"a": 0, "e": 16, "f": 20, "g": 24, "h": 28, "i": 32, "m": 48}
ROWS = {"1": 0, "5": 16, "6": 20, "7": 24, "8": 28, "9": 32, "13": 48}
HALF = {
    0: 1,
    Fraction(16, 3): 2,
    8: 3,
    Fraction(48, 5): 3,
    Fraction(32, 3): 4,
    12: 4,
    16: 5,
    Fraction(96, 5): 6,
    20: 6,
    24: 7,
}


def cell(x):
    return HALF[x] if x <= 24 else 14 - HALF[48 - x]


def name(point):
    return f"{'abcdefghijklm'[cell(point[0]) - 1]}{cell(point[1])}"


def end(text):
    """Return the end of a line; b4, d2 and d4 and their mirror images have places of their own."""
    column, row = text[0], int(text[1:])
    if column in "bd":
        x = (
            Fraction(12)
            if row in (4, 10) and column == "d"
            else Fraction(16 if column == "b" else 32, 3)
        )
        low = {2: Fraction(16, 3), 4: Fraction(32, 3) if column == "b" else Fraction(12)}
        return x, low[row] if row < 7 else 48 - low[14 - row]
    if column in "jl":
        x, y = end(f"{'d' if column == 'j' else 'b'}{row}")
        return 48 - x, y
    return Fraction(WHERE[column]), Fraction(ROWS[str(row)])


def meet(one, other):
    (ax, ay), (bx, by) = one
    (cx, cy), (dx, dy) = other
    det = (bx - ax) * (cy - dy) - (cx - dx) * (by - ay)
    if det == 0:
        return None
    s = ((cx - ax) * (cy - dy) - (cx - dx) * (cy - ay)) / det
    t = ((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / det
    return (ax + s * (bx - ax), ay + s * (by - ay)) if 0 <= s <= 1 and 0 <= t <= 1 else None


def build():
    segments = [tuple(map(end, line.split("-"))) for line in LINES.split()]
    on = [set() for _ in segments]
    for (i, one), (j, other) in combinations(enumerate(segments), 2):
        if (point := meet(one, other)) is not None:
            on[i].add(point)
            on[j].add(point)
    points = {point: name(point) for line in on for point in line}
    return points, [[points[point] for point in sorted(line)] for line in on]


POINTS, BOARD_LINES = build()
NAMES = sorted(POINTS.values(), key=lambda text: (text[0], int(text[1:])))
OUTER_LINES = BOARD_LINES[:4]
NEAR = {text: set() for text in NAMES}
for _line in BOARD_LINES:
    for _a, _b in pairwise(_line):
        NEAR[_a].add(_b)
        NEAR[_b].add(_a)


def order(names):
    return sorted(names, key=lambda text: (text[0], int(text[1:])))


def slides(board, origin, *, noborder):
    for line in BOARD_LINES:
        if origin not in line or (noborder and line in OUTER_LINES):
            continue
        here = line.index(origin)
        for there, target in enumerate(line):
            passed = line[min(here, there) : max(here, there) + 1]
            if target != origin and not any(at in board for at in passed if at != origin):
                yield target


def placements(board, target, supply, *, exact):
    """All sets of placements; `board` is without the moved piece."""
    around = [at for at in NEAR[target] if at in board]
    empty = [at for at in NEAR[target] if at not in board]
    if len(around) > supply and exact:
        return set()
    return {
        frozenset(some)
        for tried in permutations(empty, len(around))
        if all(place in NEAR[at] for at, place in zip(around, tried, strict=True))
        for some in combinations(tried, min(supply, len(around)))
    }


def legal(board, seat, *, exact, noborder):
    """Return the legal moves as canonical texts; `board` maps names to letters."""
    own = {at for at, letter in board.items() if letter in ("Oo", "Xx")[seat]}
    others = set(board) - own
    found = set()
    for origin in own if len(others) < 16 else ():
        rest = set(board) - {origin}
        for target in slides(board, origin, noborder=noborder):
            for placed in placements(rest, target, 16 - len(own), exact=exact):
                listed = ":" + ",".join(order(placed)) if placed else ""
                found.add(f"{origin}-{target}{listed}")
    return found


def play(board, seat, text):
    """Return the board after a legal move."""
    movement, _, listed = text.partition(":")
    origin, target = movement.split("-")
    after = dict(board)
    after[target] = after.pop(origin)
    if listed:
        fresh, aged = ("Oo", "Xx")[seat]
        for at in [target, *NEAR[target]]:
            if after.get(at) == fresh:
                after[at] = aged
            elif after.get(at) == aged:
                del after[at]
        after |= dict.fromkeys(listed.split(","), fresh)
    return after
