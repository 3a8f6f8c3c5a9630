"""Positions and moves of David and Goliath, and the regions of the figures."""

from collections.abc import Iterator
from typing import Final

import msgspec

from domain.boards.pow2_board import (
    ADJACENT,
    EVERYWHERE,
    NAMES,
    OUTER,
    SLIDES,
    SLIDES_SHORT,
    adjacent_to,
    bits,
    set_of,
)
from domain.game.protocol import Seat

STONES: Final = 15
SIDES: Final = ("David", "Goliath")
NOWHERE: Final = len(NAMES)
"""Stands for the target of a move without a throw, and for the origin of a new stone."""

_EDGE: Final = set_of(tuple({at for line in OUTER for at in line}))
"""Stones on the outer edges are never picked up."""
_MOVING: Final = (SLIDES, SLIDES_SHORT)
_THROWING: Final = (SLIDES_SHORT, SLIDES)


class GoliathPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The figures, the stones as sets, the seat to move, and whether `-count` is in force."""

    david: int
    goliath: int
    light: int
    dark: int
    turn: Seat
    counts_regions: bool

    @property
    def figure(self) -> int:
        """The place of the figure to move."""
        return self.goliath if self.turn else self.david

    @property
    def own(self) -> int:
        """The stones of the player to move."""
        return self.dark if self.turn else self.light

    @property
    def occupied(self) -> int:
        """All stones and both figures."""
        return self.light | self.dark | 1 << self.david | 1 << self.goliath

    @property
    def stones_to_pick_up(self) -> int:
        """The stones that the player to move may pick up in this turn."""
        return 0 if self.own.bit_count() < STONES else self.own & ~_EDGE


class GoliathMove(msgspec.Struct, frozen=True, gc=False):
    """The origin and destination of the figure, the target of the throw, the stone picked up."""

    origin: int
    place: int
    target: int = NOWHERE
    stone: int = NOWHERE


def letters(position: GoliathPosition) -> dict[int, str]:
    """Return the letters of figures and stones by intersection."""
    stones = dict.fromkeys(bits(position.light), "o") | dict.fromkeys(bits(position.dark), "x")
    return dict(sorted({**stones, position.david: "D", position.goliath: "G"}.items()))


def write(move: GoliathMove) -> str:
    """Return the canonical text of a move."""
    movement = f"{NAMES[move.origin]}-{NAMES[move.place]}"
    if move.target == NOWHERE:
        return movement
    if move.stone == NOWHERE:
        return f"{movement}:{NAMES[move.target]}"
    return f"{movement}:{NAMES[move.stone]}>{NAMES[move.target]}"


def sort_key(move: GoliathMove) -> int:
    """Return the sort key of a move among the moves of one position."""
    return (move.place << 7 | move.stone) << 7 | move.target


def _reachable(start: int, open_to: int, goal: int = 0) -> int:
    """Return the places that chains of edges over a set reach; the search may stop at the goal."""
    reached = newest = 1 << start
    while newest and not reached & goal:
        newest = adjacent_to(newest) & open_to & ~reached
        reached |= newest
    return reached


def regions(position: GoliathPosition) -> tuple[int, int] | None:
    """Return each figure's region, a set of empty intersections; None unless stones separate them."""
    david, goliath = 1 << position.david, 1 << position.goliath
    open_to = EVERYWHERE & ~(position.light | position.dark)
    reached = _reachable(position.david, open_to, goliath)
    if reached & goliath:
        return None
    return reached ^ david, _reachable(position.goliath, open_to) ^ goliath


def seat_with_larger_region(position: GoliathPosition) -> Seat | None:
    """Return the seat with the larger region; None if the regions are equal or joined."""
    found = regions(position)
    if found is None:
        return None
    david, goliath = (region.bit_count() for region in found)
    return None if david == goliath else int(goliath > david)


def can_move(position: GoliathPosition) -> bool:
    """Return whether the figure can move. Then it can also throw, at least back to its origin."""
    return ADJACENT[position.figure] & ~position.occupied != 0


def _places(position: GoliathPosition) -> Iterator[int]:
    """Yield the destinations of the figure."""
    rest, origin = position.occupied, position.figure
    for line, reach in _MOVING[position.turn][origin]:
        for place, _ in reach[line & rest]:
            yield place


def moves(position: GoliathPosition) -> list[GoliathMove]:
    """Return all legal moves, each once. The match is not over."""
    origin, throwing = position.figure, _THROWING[position.turn]
    rest = position.occupied ^ 1 << origin
    if position.own.bit_count() < STONES:
        return [
            GoliathMove(origin, place, target)
            for place in _places(position)
            for line, reach in throwing[place]
            for target, _ in reach[line & rest]
        ]
    if not position.stones_to_pick_up:
        return [GoliathMove(origin, place) for place in _places(position)]
    return [
        GoliathMove(origin, place, target, stone)
        for place in _places(position)
        for stone in bits(position.stones_to_pick_up)
        for line, reach in throwing[place]
        for target, _ in reach[line & (rest ^ 1 << stone)]
        if target != stone
    ]


def count_moves(position: GoliathPosition) -> int:
    """Return the number of legal moves. The match is not over."""
    if position.stones_to_pick_up:
        return len(moves(position))
    if position.own.bit_count() == STONES:
        return sum(1 for _ in _places(position))
    throwing = _THROWING[position.turn]
    rest = position.occupied ^ 1 << position.figure
    return sum(
        len(reach[line & rest]) for place in _places(position) for line, reach in throwing[place]
    )


def play(position: GoliathPosition, move: GoliathMove) -> GoliathPosition:
    """Apply a legal move."""
    stones = position.own
    if move.stone != NOWHERE:
        stones ^= 1 << move.stone
    if move.target != NOWHERE:
        stones |= 1 << move.target
    if position.turn:
        return GoliathPosition(
            position.david, move.place, position.light, stones, 0, position.counts_regions
        )
    return GoliathPosition(
        move.place, position.goliath, stones, position.dark, 1, position.counts_regions
    )
