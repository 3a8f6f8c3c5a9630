"""The evaluation of David and Goliath: the places that each figure reaches first."""

from typing import Final

from domain.boards.pow2_board import ADJACENT, EVERYWHERE
from domain.engine.game_engine import GameEngine, SearchMethod, Values
from domain.games.goliath.position import GoliathPosition

_SCALE: Final = 20.0
"""The lead in places at which a seat's share of the win is three quarters."""
_BYTE: Final = 256


def _near_tables() -> tuple[tuple[int, ...], ...]:
    """Return, for each eight intersections, the neighbours of each set of them."""
    tables = []
    for first in range(0, len(ADJACENT), 8):
        near = [0] * _BYTE
        for some in range(1, _BYTE):
            lowest = some & -some
            near[some] = near[some ^ lowest] | ADJACENT[first + lowest.bit_length() - 1]
        tables.append(tuple(near))
    return tuple(tables)


_A, _B, _C, _D, _E, _F, _G, _H = _near_tables()


def _beside(places: int) -> int:
    """Return the neighbours of a set of intersections."""
    return (
        _A[places & 255]
        | _B[places >> 8 & 255]
        | _C[places >> 16 & 255]
        | _D[places >> 24 & 255]
        | _E[places >> 32 & 255]
        | _F[places >> 40 & 255]
        | _G[places >> 48 & 255]
        | _H[places >> 56]
    )


def evaluate(position: GoliathPosition) -> Values:
    """Compare the places that each figure reaches first, step by step along edges."""
    own, other = 1 << position.david, 1 << position.goliath
    if position.turn:
        own, other = other, own
    open_to = EVERYWHERE & ~(position.light | position.dark | own | other)
    own_near = _beside(own) & open_to
    other_near = _beside(other) & open_to
    lead = 2 * (own_near.bit_count() - other_near.bit_count())
    own_first = other_first = 0
    own_new, other_new = own_near, other_near
    while own_new or other_new:
        open_to &= ~(own_new | other_new)
        own_first |= own_new & ~other_new
        other_first |= other_new & ~own_new
        own_new = _beside(own_new) & open_to
        other_new = _beside(other_new) & open_to
    lead += own_first.bit_count() - other_first.bit_count()
    value = 0.5 + lead / (2 * (_SCALE + abs(lead)))
    return (1 - value, value) if position.turn else (value, 1 - value)


ENGINE: Final = GameEngine(evaluate, SearchMethod.ALPHA_BETA)
