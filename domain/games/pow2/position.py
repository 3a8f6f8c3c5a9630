"""Positions and moves of the Power of Two.

Move generation is fast because of tables. Slides have one table for each line and origin, by the
occupied part of the line. A triangle with the destination lies among its neighbours, so placements
have one table for each destination, by its occupied neighbours.
"""

from enum import StrEnum
from functools import lru_cache
from itertools import combinations
from typing import Final

import msgspec

from domain.boards.pow2_board import (
    ADJACENT,
    BETWEEN,
    BETWEEN_INSIDE,
    EVERYWHERE,
    NAMES,
    SLIDES,
    SLIDES_INSIDE,
    bits,
    names_of,
)
from domain.game.protocol import Seat

PIECES: Final = 16
SIDES: Final = ("Light", "Dark")
FREE_PIECES: Final = 4
"""The pieces that each player places in the placing phase of `-free`."""
HAND: Final = len(NAMES)
"""The origin of a piece from the supply, in the placing phase."""

# the bits of `Pow2Position.flags`
EXACT: Final = 1
NOBORDER: Final = 2
PLACING: Final = 4  # until the placing phase is over

_MOST_PLACED: Final = max(near.bit_count() for near in ADJACENT) // 2


class Pow2Start(StrEnum):
    """The starting positions, by their flags."""

    CORNERS = ""
    FAST = "fast"
    MIDDLE = "middle"
    FREE = "free"


class Pow2Options(msgspec.Struct, frozen=True):
    """The options of a match."""

    exact: bool = False
    noborder: bool = False
    start: Pow2Start = Pow2Start.CORNERS


def flags_of(options: Pow2Options) -> int:
    """Return the options in force, as bits of `Pow2Position.flags`."""
    return EXACT * options.exact | NOBORDER * options.noborder


class Pow2Position(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The pieces as sets of intersections, the seat to move, and the options in force."""

    light_fresh: int
    light_aged: int
    dark_fresh: int
    dark_aged: int
    turn: Seat
    flags: int

    @property
    def own(self) -> int:
        """The pieces of the player to move."""
        if self.turn:
            return self.dark_fresh | self.dark_aged
        return self.light_fresh | self.light_aged

    @property
    def occupied(self) -> int:
        """All pieces."""
        return self.light_fresh | self.light_aged | self.dark_fresh | self.dark_aged

    @property
    def won(self) -> bool:
        """Whether the player who moved last has all pieces on the board."""
        return (self.occupied & ~self.own).bit_count() == PIECES

    @property
    def supply(self) -> int:
        """The pieces that the player to move has left to place."""
        return PIECES - self.own.bit_count()


class Pow2Move(msgspec.Struct, frozen=True, gc=False):
    """The origin (or `HAND`) and destination of a piece, and the set of the new pieces."""

    origin: int
    target: int
    placed: int = 0


def letters(position: Pow2Position) -> dict[int, str]:
    """Return the letters of the pieces by intersection; capitals are fresh."""
    boards = (
        ("O", position.light_fresh),
        ("o", position.light_aged),
        ("X", position.dark_fresh),
        ("x", position.dark_aged),
    )
    pieces = {at: letter for letter, board in boards for at in bits(board)}
    return dict(sorted(pieces.items()))


def write(move: Pow2Move) -> str:
    """Return the canonical text of a move."""
    if move.origin == HAND:
        return NAMES[move.target]
    if not move.placed:
        return f"{NAMES[move.origin]}-{NAMES[move.target]}"
    return f"{NAMES[move.origin]}-{NAMES[move.target]}:{_names_text(move.placed)}"


@lru_cache(4096)  # more than the sets that can be placed; `read` may return others
def _names_text(board: int) -> str:
    return ",".join(names_of(board))


def complete_placements(target: int, around: int) -> set[int]:
    """Return the placements that serve each occupied neighbour with an intersection of its own."""
    empty = ADJACENT[target] & ~around
    if empty.bit_count() < around.bit_count():
        return set()
    partial = {0}
    for neighbour in bits(around):
        serving = [1 << at for at in bits(empty & ADJACENT[neighbour])]
        partial = {placed | one for placed in partial for one in serving if not placed & one}
    return partial


class _Placements(dict[int, tuple[int, ...]]):
    """The legal placements around a destination, by its occupied neighbours; computed on first use.

    There are at most 1,024 entries, because no destination has more than ten neighbours.
    """

    def __init__(self, target: int, supply: int, *, exact: bool) -> None:
        super().__init__()
        self._target, self._supply, self._exact = target, supply, exact

    def __missing__(self, around: int) -> tuple[int, ...]:
        found = complete_placements(self._target, around)
        if around.bit_count() > self._supply:
            found = set() if self._exact else self._short(found)
        self[around] = ordered = tuple(sorted(found, key=lambda placed: tuple(bits(placed))))
        return ordered

    def _short(self, complete: set[int]) -> set[int]:
        """Return the parts of complete placements that the supply is enough for."""
        return {
            sum(some)
            for placed in complete
            for some in combinations([1 << at for at in bits(placed)], self._supply)
        }


def _by_supply(*, exact: bool) -> tuple[tuple[_Placements, ...], ...]:
    """Return the tables for each supply from 0 to 16; from `_MOST_PLACED` on they are equal."""
    tables = [
        tuple(_Placements(target, supply, exact=exact) for target in range(len(NAMES)))
        for supply in range(_MOST_PLACED + 1)
    ]
    return tuple(tables[min(supply, _MOST_PLACED)] for supply in range(PIECES + 1))


_PLACEMENTS: Final = (_by_supply(exact=False), _by_supply(exact=True))


def placements(position: Pow2Position) -> tuple[_Placements, ...]:
    """Return, for each destination, the legal placements with the present supply."""
    return _PLACEMENTS[position.flags & EXACT][position.supply]


def free_places(position: Pow2Position) -> int:
    """Return the intersections open to a piece in the placing phase, as a set."""
    barred = position.occupied
    for at in bits(barred):
        barred |= ADJACENT[at]
    return EVERYWHERE & ~barred


def moves(position: Pow2Position) -> list[Pow2Move]:
    """Return all legal moves, each once, by origin."""
    if position.flags & PLACING:
        return [Pow2Move(HAND, at) for at in bits(free_places(position))]
    if position.won:
        return []
    occupied, placing = position.occupied, placements(position)
    slides = SLIDES_INSIDE if position.flags & NOBORDER else SLIDES
    return [
        Pow2Move(origin, target, placed)
        for origin in bits(position.own)
        for rest in (occupied ^ 1 << origin,)
        for line, reach in slides[origin]
        for target, near in reach[line & rest]
        for placed in placing[target][near & rest]
    ]


def count_moves(position: Pow2Position) -> int:
    """Return the number of legal moves, without listing them."""
    if position.flags & PLACING:
        return free_places(position).bit_count()
    if position.won:
        return 0
    occupied, placing = position.occupied, placements(position)
    slides = SLIDES_INSIDE if position.flags & NOBORDER else SLIDES
    return sum(
        len(placing[target][near & rest])
        for origin in bits(position.own)
        for rest in (occupied ^ 1 << origin,)
        for line, reach in slides[origin]
        for target, near in reach[line & rest]
    )


@lru_cache(16)  # because an outcome and the next seat are asked for one after the other
def can_move(position: Pow2Position) -> bool:
    """Return whether there is a legal move; usually the first candidate is one."""
    if position.flags & PLACING:
        return free_places(position) != 0
    occupied, placing = position.occupied, placements(position)
    slides = SLIDES_INSIDE if position.flags & NOBORDER else SLIDES
    return not position.won and any(
        placing[target][near & rest]
        for origin in bits(position.own)
        for rest in (occupied ^ 1 << origin,)
        for line, reach in slides[origin]
        for target, near in reach[line & rest]
    )


def is_legal(position: Pow2Position, move: Pow2Move) -> bool:
    """Return whether a move is legal, without looking at the others."""
    if position.flags & PLACING:
        return move.origin == HAND and free_places(position) >> move.target & 1 == 1
    if not position.own >> move.origin & 1 or position.won:
        return False
    ways = BETWEEN_INSIDE if position.flags & NOBORDER else BETWEEN
    rest = position.occupied ^ 1 << move.origin
    way = ways[move.origin].get(move.target)
    if way is None or rest & (way | 1 << move.target):
        return False
    return move.placed in placements(position)[move.target][ADJACENT[move.target] & rest]


def play(position: Pow2Position, move: Pow2Move) -> Pow2Position:
    """Apply a legal move."""
    if position.flags & PLACING:
        return _after_placing(position, 1 << move.target)
    if position.turn:
        fresh, aged = _after_moving(position.dark_fresh, position.dark_aged, move)
        return Pow2Position(
            position.light_fresh, position.light_aged, fresh, aged, 0, position.flags
        )
    fresh, aged = _after_moving(position.light_fresh, position.light_aged, move)
    return Pow2Position(fresh, aged, position.dark_fresh, position.dark_aged, 1, position.flags)


def _after_moving(fresh: int, aged: int, move: Pow2Move) -> tuple[int, int]:
    """Return the mover's fresh and aged pieces after a move and its ageing."""
    origin, target = 1 << move.origin, 1 << move.target
    if fresh & origin:
        fresh ^= origin | target
    else:
        aged ^= origin | target
    if not move.placed:
        return fresh, aged
    ageing = ADJACENT[move.target] | target
    return fresh & ~ageing | move.placed, aged & ~ageing | fresh & ageing


def _after_placing(position: Pow2Position, piece: int) -> Pow2Position:
    """Return the position after a ply of the placing phase; Dark's fourth piece ends it."""
    light, dark, flags = position.light_fresh, position.dark_fresh, position.flags
    if not position.turn:
        return Pow2Position(light | piece, 0, dark, 0, 1, flags)
    if dark.bit_count() == FREE_PIECES - 1:
        flags ^= PLACING
    return Pow2Position(light, 0, dark | piece, 0, 0, flags)
