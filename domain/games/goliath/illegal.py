"""Why a move of David and Goliath is illegal: one sentence that names the rule and the places."""

from typing import Final

from domain.boards.pow2_board import BETWEEN, NAMES, bits
from domain.games.goliath.position import (
    NOWHERE,
    STONES,
    GoliathMove,
    GoliathPosition,
    letters,
    moves,
    sort_key,
)
from domain.games.goliath.sentences import SAY, packed_move
from domain.sentences import Text

FORM: Final = SAY("form")

_FAR: Final = len(NAMES)
_MOVING: Final = (_FAR, 2)
"""How far David and Goliath move."""
_THROWING: Final = (2, _FAR)


def why_illegal(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return which rule a move breaks, and where; None for a legal one. The match is not over."""
    return (
        _figure_problem(position, move)
        or _way_problem(position, _MOVING, move.origin, move.place, position.occupied)
        or _kind_problem(position, move)
        or _throw_problem(position, move)
    )


def _figure_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the figure to be moved."""
    mover = position.turn
    if move.origin != position.figure:
        if move.origin in (position.david, position.goliath):
            return SAY("turn", other=1 - mover, at=move.origin, mover=mover)
        return SAY("figure", mover=mover, figure=position.figure, at=move.origin)
    if move.origin == move.place:
        return SAY("stays", mover=mover)
    return None


def _way_problem(
    position: GoliathPosition,
    farthest: tuple[int, int],
    start: int,
    end: int,
    occupied: int,
) -> Text | None:
    """Return what is wrong with the way of a figure or a stone."""
    if end not in BETWEEN[start]:
        return SAY("line", start=start, end=end)
    passed = BETWEEN[start][end]
    steps = passed.bit_count() + 1
    if steps > farthest[position.turn]:
        mover = position.turn
        if farthest is _MOVING:
            return SAY("steps", mover=mover, end=end, steps=steps)
        return SAY("far", mover=mover, end=end, steps=steps)
    if blocking := passed & occupied:
        nearest = min(bits(blocking), key=lambda at: BETWEEN[start][at].bit_count())
        piece = letters(position)[nearest]
        return SAY("way", start=start, end=end, piece=piece, nearest=nearest)
    if occupied >> end & 1:
        return SAY("taken", end=end, piece=letters(position)[end])
    return None


def _kind_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the kind of throw: none, of a new stone, or of one picked up."""
    if left := STONES - position.own.bit_count():
        if move.target == NOWHERE:
            return SAY("throw", example=_example(position, move))
        if move.stone != NOWHERE:
            return SAY("supply", stones=STONES, left=left)
        return None
    return _reuse_problem(position, move)


def _reuse_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the kind of throw when all stones are on the board."""
    if not position.stones_to_pick_up:
        if move.target == NOWHERE:
            return None
        return SAY("edges", stones=STONES)
    if move.stone != NOWHERE:
        return None
    example = _example(position, move)
    if move.target == NOWHERE:
        return SAY("reuse", stones=STONES, example=example)
    return SAY("name", stones=STONES, example=example)


def _example(position: GoliathPosition, move: GoliathMove) -> int:
    """Return an example, packed: a legal move to the same place, with the same target if possible."""
    legal = (other for other in moves(position) if other.place == move.place)
    return packed_move(min(legal, key=lambda it: (it.target != move.target, sort_key(it))))


def _throw_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the stone that is picked up, or with the target of the throw."""
    if move.target == NOWHERE:
        return None
    occupied = position.occupied ^ 1 << position.figure
    if move.stone != NOWHERE:
        if wrong := _stone_problem(position, move):
            return wrong
        occupied ^= 1 << move.stone
    if move.target == move.place:
        return SAY("stands", mover=position.turn, at=move.place)
    return _way_problem(position, _THROWING, move.place, move.target, occupied)


def _stone_problem(position: GoliathPosition, move: GoliathMove) -> Text | None:
    """Return what is wrong with the stone that is picked up."""
    stone = move.stone
    if not (position.light | position.dark) >> move.stone & 1:
        return SAY("none", at=stone)
    if not position.own >> move.stone & 1:
        return SAY("owner", at=stone, other=1 - position.turn)
    if not position.stones_to_pick_up >> move.stone & 1:
        return SAY("edge", at=stone)
    if move.stone == move.target:
        return SAY("return", at=stone)
    return None
