"""Why a move of the Power of Two is illegal: one sentence that names the rule and the places."""

from itertools import combinations
from typing import Final

from domain.boards.pow2_board import (
    ADJACENT,
    BETWEEN,
    BETWEEN_INSIDE,
    NAMES,
    bits,
    names_of,
    set_of,
)
from domain.games.pow2.position import (
    EXACT,
    HAND,
    NOBORDER,
    PLACING,
    SIDES,
    Pow2Move,
    Pow2Position,
    complete_placements,
    letters,
    placements,
    write,
)

FORM: Final = "a move is written from-to or from-to:p1,p2, such as m13-j7 or m13-m5:l4"


def why_illegal(position: Pow2Position, move: Pow2Move) -> str:
    """Return which rule an illegal move breaks, and where."""
    if position.won:
        return f"the match is over: {SIDES[1 - position.turn]} has all 16 pieces on the board"
    if position.flags & PLACING:
        return _placing_problem(position, move)
    if move.origin == HAND:
        return f"single pieces are placed only before the first turn of -free; {FORM}"
    return (
        _piece_problem(position, move)
        or _way_problem(position, move)
        or _neighbours_problem(position, move)
        or _places_problem(position, move)
    )


def _placing_problem(position: Pow2Position, move: Pow2Move) -> str:
    at = NAMES[move.target]
    if move.origin != HAND:
        return "the players first place four pieces each (-free); name one intersection, as in c3"
    if position.occupied >> move.target & 1:
        return f"{at} is occupied by {_piece(position, move.target)}"
    beside = _names_phrase(ADJACENT[move.target] & position.occupied)
    return f"{at} is adjacent to {beside}; no piece is placed next to another (-free)"


def _piece_problem(position: Pow2Position, move: Pow2Move) -> str | None:
    """Return what is wrong with the piece to be moved."""
    origin = NAMES[move.origin]
    if not position.occupied >> move.origin & 1:
        return f"there is no piece at {origin}"
    if not position.own >> move.origin & 1:
        mover, other = SIDES[position.turn], SIDES[1 - position.turn]
        return f"the piece at {origin} is {other}'s, and it is {mover}'s turn"
    if move.origin == move.target:
        return f"the piece at {origin} has to move"
    return None


def _way_problem(position: Pow2Position, move: Pow2Move) -> str | None:
    """Return what is wrong with the path from origin to destination."""
    origin, target = NAMES[move.origin], NAMES[move.target]
    ways = BETWEEN[move.origin]
    if move.target not in ways:
        return f"no line joins {origin} and {target}"
    if position.flags & NOBORDER and move.target not in BETWEEN_INSIDE[move.origin]:
        return "the four outer edges can't be travelled (-noborder)"
    if blocking := ways[move.target] & position.occupied:
        nearest = min(bits(blocking), key=lambda at: ways[at].bit_count())
        return f"the way is blocked by {_piece(position, nearest)} at {NAMES[nearest]}"
    if position.occupied >> move.target & 1:
        return f"{target} is occupied by {_piece(position, move.target)}"
    return None


def _neighbours_problem(position: Pow2Position, move: Pow2Move) -> str | None:
    """Return why no placement serves all neighbours of the destination."""
    around = _occupied_neighbours(position, move)
    if not around:
        return f"{NAMES[move.target]} has no occupied neighbour, so nothing is placed"
    if not complete_placements(move.target, around):
        return _shortage(move.target, around)
    due, supply = around.bit_count(), position.supply
    if position.flags & EXACT and due > supply:
        return f"{due} pieces would have to be placed, with {supply} left (-exact)"
    return None


def _shortage(target: int, around: int) -> str:
    """Return which neighbours have too few intersections for triangles."""
    serving = {at: ADJACENT[target] & ADJACENT[at] & ~around for at in bits(around)}
    barred = set_of(tuple(at for at, places in serving.items() if not places))
    if barred:
        return f"no free intersection forms a triangle with {_names_phrase(barred, 'or')}"
    for size in range(2, len(serving) + 1):
        for some in combinations(serving, size):
            places = 0
            for at in some:
                places |= serving[at]
            if places.bit_count() < size:
                those = _names_phrase(set_of(some))
                return f"{those} need an intersection each, and have only {_names_phrase(places)}"
    raise AssertionError(f"every neighbour of {NAMES[target]} can be served")


def _places_problem(position: Pow2Position, move: Pow2Move) -> str:
    """Return what is wrong with the new pieces, in a move for which others would be legal."""
    around = _occupied_neighbours(position, move)
    for at in bits(move.placed):
        if wrong := _place_problem(position, move, at):
            return wrong
    legal = placements(position)[move.target][around]
    due, named = legal[0].bit_count(), move.placed.bit_count()
    remedy = f"such as {write(Pow2Move(move.origin, move.target, legal[0]))}"
    if named == due:
        those = _names_phrase(move.placed)
        return f"{those} can't serve {_names_phrase(around)} with an intersection each; {remedy}"
    pieces = "1 piece has" if due == 1 else f"{due} pieces have"
    number = f"{named} are" if named > 1 else "1 is" if named else "none is"
    return f"{pieces} to be placed for {_names_phrase(around)}, and {number} named; {remedy}"


def _place_problem(position: Pow2Position, move: Pow2Move, at: int) -> str | None:
    """Return what is wrong with one new piece, independent of the others."""
    around = _occupied_neighbours(position, move)
    if at == move.target:
        return f"{NAMES[at]} is taken by the piece that moves there"
    if (position.occupied ^ 1 << move.origin) >> at & 1:
        return f"{NAMES[at]} is occupied by {_piece(position, at)}"
    if not ADJACENT[move.target] >> at & 1 or not ADJACENT[at] & around:
        return f"{NAMES[at]} forms no triangle with {NAMES[move.target]} and {_names_phrase(around, 'or')}"
    return None


def _occupied_neighbours(position: Pow2Position, move: Pow2Move) -> int:
    """Return the destination's occupied neighbours without the origin."""
    return ADJACENT[move.target] & position.occupied & ~(1 << move.origin)


def _piece(position: Pow2Position, at: int) -> str:
    return letters(position)[at]


def _names_phrase(board: int, last: str = "and") -> str:
    """Return the names of a set, as in `a13, b10 and d12`."""
    *others, final = names_of(board)
    return f"{', '.join(others)} {last} {final}" if others else final
