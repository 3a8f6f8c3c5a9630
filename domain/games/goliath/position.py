"""Positions and turns of David and Goliath: moving, throwing, and the regions of the figures."""

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
    bits,
    board_of,
)
from domain.rules.protocol import Seat

STONES: Final = 15
SIDES: Final = ("David", "Goliath")
NOWHERE: Final = len(NAMES)
"""The target of a turn without a throw, and where a stone comes from that is not picked up."""

_EDGE: Final = board_of(tuple({at for line in OUTER for at in line}))
"""Stones on the outer edges are never picked up."""
_MOVING: Final = (SLIDES, SLIDES_SHORT)
_THROWING: Final = (SLIDES_SHORT, SLIDES)


class GoliathPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where the figures are, the stones as sets, whose turn it is, whether `-count` is in force."""

    david: int
    goliath: int
    light: int
    dark: int
    turn: Seat
    counting: bool

    @property
    def figure(self) -> int:
        """Where the figure stands whose turn it is."""
        return self.goliath if self.turn else self.david

    @property
    def own(self) -> int:
        """The stones of the player whose turn it is."""
        return self.dark if self.turn else self.light

    @property
    def occupied(self) -> int:
        """All stones and both figures."""
        return self.light | self.dark | 1 << self.david | 1 << self.goliath

    @property
    def loose(self) -> int:
        """The stones that may be picked up in this turn."""
        return 0 if self.own.bit_count() < STONES else self.own & ~_EDGE


class GoliathMove(msgspec.Struct, frozen=True, gc=False):
    """From an intersection to another; where a stone is thrown, and where it was picked up."""

    origin: int
    place: int
    target: int = NOWHERE
    stone: int = NOWHERE


def letters(position: GoliathPosition) -> dict[int, str]:
    """Return figures and stones by intersection, as they are shown."""
    shown = dict.fromkeys(bits(position.light), "o") | dict.fromkeys(bits(position.dark), "x")
    return dict(sorted({**shown, position.david: "D", position.goliath: "G"}.items()))


def write(move: GoliathMove) -> str:
    """Return the canonical text of a move."""
    movement = f"{NAMES[move.origin]}-{NAMES[move.place]}"
    if move.target == NOWHERE:
        return movement
    if move.stone == NOWHERE:
        return f"{movement}:{NAMES[move.target]}"
    return f"{movement}:{NAMES[move.stone]}>{NAMES[move.target]}"


def sorting(move: GoliathMove) -> int:
    """Return the place of a move in sorting order among those of the same turn."""
    return (move.place << 7 | move.stone) << 7 | move.target


def _reached(start: int, open_to: int, goal: int = 0) -> int:
    """Return what chains of edges over a set join to an intersection; no more once at the goal."""
    reached = newest = 1 << start
    while newest and not reached & goal:
        near = 0
        for at in bits(newest):
            near |= ADJACENT[at]
        newest = near & open_to & ~reached
        reached |= newest
    return reached


def regions(position: GoliathPosition) -> tuple[int, int] | None:
    """Return each figure's region, a set of empty intersections; None unless they are separated."""
    david, goliath = 1 << position.david, 1 << position.goliath
    open_to = EVERYWHERE & ~(position.light | position.dark)
    reached = _reached(position.david, open_to, goliath)
    if reached & goliath:
        return None
    return reached ^ david, _reached(position.goliath, open_to) ^ goliath


def larger(position: GoliathPosition) -> Seat | None:
    """Return whose region is larger, None when they are equal or joined."""
    found = regions(position)
    if found is None:
        return None
    david, goliath = (region.bit_count() for region in found)
    return None if david == goliath else int(goliath > david)


def can_move(position: GoliathPosition) -> bool:
    """Return whether the figure can move; it can throw then, back at the least."""
    return ADJACENT[position.figure] & ~position.occupied != 0


def _places(position: GoliathPosition) -> Iterator[int]:
    """Yield where the figure may move."""
    rest, origin = position.occupied, position.figure
    for line, reach in _MOVING[position.turn][origin]:
        for place, _ in reach[line & rest]:
            yield place


def moves(position: GoliathPosition) -> list[GoliathMove]:
    """Return all legal moves, each once, of a match that goes on."""
    origin, throwing = position.figure, _THROWING[position.turn]
    rest = position.occupied ^ 1 << origin
    if position.own.bit_count() < STONES:
        return [
            GoliathMove(origin, place, target)
            for place in _places(position)
            for line, reach in throwing[place]
            for target, _ in reach[line & rest]
        ]
    if not position.loose:
        return [GoliathMove(origin, place) for place in _places(position)]
    return [
        GoliathMove(origin, place, target, stone)
        for place in _places(position)
        for stone in bits(position.loose)
        for line, reach in throwing[place]
        for target, _ in reach[line & (rest ^ 1 << stone)]
        if target != stone
    ]


def count_moves(position: GoliathPosition) -> int:
    """Return the number of legal moves of a match that goes on."""
    if position.loose:
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
            position.david, move.place, position.light, stones, 0, position.counting
        )
    return GoliathPosition(
        move.place, position.goliath, stones, position.dark, 1, position.counting
    )
