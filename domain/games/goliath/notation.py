"""The moves of David and Goliath, as text and as arguments of sentences."""

from typing import Final

import msgspec

from domain.boards.pow2_board import NAMES

NOWHERE: Final = len(NAMES)
"""Stands for the target of a move without a throw, and for the origin of a new stone."""
_BITS: Final = 7
"""Enough for the index of an intersection, and for `NOWHERE`."""


class GoliathMove(msgspec.Struct, frozen=True, gc=False):
    """The origin and destination of the figure, the target of the throw, the stone picked up."""

    origin: int
    place: int
    target: int = NOWHERE
    stone: int = NOWHERE

    def __str__(self) -> str:
        """Return the canonical text."""
        movement = f"{NAMES[self.origin]}-{NAMES[self.place]}"
        if self.target == NOWHERE:
            return movement
        if self.stone == NOWHERE:
            return f"{movement}:{NAMES[self.target]}"
        return f"{movement}:{NAMES[self.stone]}>{NAMES[self.target]}"


def sort_key(move: GoliathMove) -> int:
    """Return the sort key of a move among the moves of one position."""
    return (move.place << 7 | move.stone) << 7 | move.target


def packed_move(move: GoliathMove) -> int:
    """Return a move as an argument, a number of five bytes at most."""
    places = (move.origin, move.place, move.target, move.stone)
    return sum(place << _BITS * n for n, place in enumerate(places))


def unpacked_move(packed: int) -> GoliathMove:
    """Return the move that `packed_move` has packed."""
    return GoliathMove(*(packed >> _BITS * n & (1 << _BITS) - 1 for n in range(4)))
