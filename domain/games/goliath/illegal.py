"""Why a move of David and Goliath is illegal: one sentence that names the rule and the places."""

from typing import Final

from domain.boards.pow2_board import BETWEEN, NAMES, bits
from domain.games.goliath.position import (
    NOWHERE,
    SIDES,
    STONES,
    GoliathMove,
    GoliathPosition,
    letters,
    moves,
    sort_key,
    write,
)

FORM: Final = (
    "a move is written from-to:target or, when all stones are used up, from-to:stone>target"
    " or from-to, such as m13-h8:i9"
)

_FAR: Final = len(NAMES)
_MOVING: Final = ("moves", (_FAR, 2))
_THROWING: Final = ("throws", (2, _FAR))


def why_illegal(position: GoliathPosition, move: GoliathMove) -> str | None:
    """Return which rule a move breaks, and where; None for a legal one. The match is not over."""
    return (
        _figure_problem(position, move)
        or _way_problem(position, _MOVING, move.origin, move.place, position.occupied)
        or _kind_problem(position, move)
        or _throw_problem(position, move)
    )


def _figure_problem(position: GoliathPosition, move: GoliathMove) -> str | None:
    """Return what is wrong with the figure to be moved."""
    mover, other = SIDES[position.turn], SIDES[1 - position.turn]
    if move.origin != position.figure:
        if move.origin in (position.david, position.goliath):
            return f"{other} stands at {NAMES[move.origin]}, and it is {mover}'s turn"
        return f"{mover} stands at {NAMES[position.figure]}, not at {NAMES[move.origin]}"
    if move.origin == move.place:
        return f"{mover} has to move"
    return None


def _way_problem(
    position: GoliathPosition,
    way: tuple[str, tuple[int, int]],
    start: int,
    end: int,
    occupied: int,
) -> str | None:
    """Return what is wrong with the way of a figure or a stone."""
    verb, farthest = way
    if end not in BETWEEN[start]:
        return f"no line joins {NAMES[start]} and {NAMES[end]}"
    passed = BETWEEN[start][end]
    steps = passed.bit_count() + 1
    if steps > farthest[position.turn]:
        mover = SIDES[position.turn]
        return f"{mover} {verb} one or two intersections far, and {NAMES[end]} is {steps} away"
    if blocking := passed & occupied:
        nearest = min(bits(blocking), key=lambda at: BETWEEN[start][at].bit_count())
        piece = letters(position)[nearest]
        return (
            f"the way from {NAMES[start]} to {NAMES[end]} is blocked by {piece} at {NAMES[nearest]}"
        )
    if occupied >> end & 1:
        return f"{NAMES[end]} is occupied by {letters(position)[end]}"
    return None


def _kind_problem(position: GoliathPosition, move: GoliathMove) -> str | None:
    """Return what is wrong with the kind of throw: none, of a new stone, or of one picked up."""
    if left := STONES - position.own.bit_count():
        if move.target == NOWHERE:
            return f"a stone has to be thrown after the move, {_remedy(position, move)}"
        if move.stone != NOWHERE:
            return f"a stone is picked up only when all {STONES} are used up; {left} left to throw"
        return None
    return _reuse_problem(position, move)


def _reuse_problem(position: GoliathPosition, move: GoliathMove) -> str | None:
    """Return what is wrong with the kind of throw when all stones are on the board."""
    if not position.stones_to_pick_up:
        if move.target == NOWHERE:
            return None
        return f"all {STONES} stones stand on the outer edges for good, so nothing is thrown"
    if move.stone != NOWHERE:
        return None
    due = (
        "one has to be picked up and thrown" if move.target == NOWHERE else "name the one to throw"
    )
    return f"all {STONES} stones are used up; {due}, {_remedy(position, move)}"


def _remedy(position: GoliathPosition, move: GoliathMove) -> str:
    """Return an example: a legal move to the same place, with the same target if possible."""
    legal = (other for other in moves(position) if other.place == move.place)
    return f"such as {write(min(legal, key=lambda it: (it.target != move.target, sort_key(it))))}"


def _throw_problem(position: GoliathPosition, move: GoliathMove) -> str | None:
    """Return what is wrong with the stone that is picked up, or with the target of the throw."""
    if move.target == NOWHERE:
        return None
    occupied = position.occupied ^ 1 << position.figure
    if move.stone != NOWHERE:
        if wrong := _stone_problem(position, move):
            return wrong
        occupied ^= 1 << move.stone
    if move.target == move.place:
        return f"{SIDES[position.turn]} stands at {NAMES[move.place]} now"
    return _way_problem(position, _THROWING, move.place, move.target, occupied)


def _stone_problem(position: GoliathPosition, move: GoliathMove) -> str | None:
    """Return what is wrong with the stone that is picked up."""
    stone = NAMES[move.stone]
    other = SIDES[1 - position.turn]
    if not (position.light | position.dark) >> move.stone & 1:
        return f"there is no stone at {stone}"
    if not position.own >> move.stone & 1:
        return f"the stone at {stone} is {other}'s; only own ones are picked up"
    if not position.stones_to_pick_up >> move.stone & 1:
        return f"the stone at {stone} stands on an outer edge and can't be picked up"
    if move.stone == move.target:
        return f"the stone picked up at {stone} may not return there in the same turn"
    return None
