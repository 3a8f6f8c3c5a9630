"""Positions and moves of mū tōrere."""

from collections.abc import Iterator
from typing import Final

import msgspec

from domain.game.protocol import Seat

SIDES: Final = ("Light", "Dark")
STONES: Final = 4
"""The stones of each player."""
PLACES: Final = "012345678"

TorereMove = tuple[int, int]
"""From where to where: the putahi is 0, the kewai are 1 to 8."""

_EVERYWHERE: Final = 0b111111111
_PUTAHI: Final = 0b000000001
_KEWAI: Final = _EVERYWHERE & ~_PUTAHI


class TorerePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones as sets of places, bit 0 for the putahi, and the seat to move."""

    light: int
    dark: int
    turn: Seat

    @property
    def empty(self) -> int:
        """The only empty place."""
        return (_EVERYWHERE & ~(self.light | self.dark)).bit_length() - 1


START: Final = TorerePosition(0b000011110, 0b111100000, 0)


def beside(places: int) -> int:
    """Return the kewai that neighbour one of these kewai."""
    return (places << 1 | places >> 7 | places >> 1 | places << 7) & _KEWAI


_NEAR: Final = {1 << at: beside(1 << at) | _PUTAHI if at else _KEWAI for at in range(len(PLACES))}
"""For each empty place, as a set of one: the places from which a line leads to it."""


def movable(position: TorerePosition) -> int:
    """Return the stones that the player to move can move, as a set of places."""
    light, dark, turn = position.light, position.dark, position.turn
    own, opposing = (dark, light) if turn else (light, dark)
    empty = _EVERYWHERE & ~(light | dark)
    if empty == _PUTAHI:
        return own & beside(opposing)
    return own & _NEAR[empty]


def places(of: int) -> Iterator[int]:
    """Yield the places of a set in order."""
    return (at for at in range(len(PLACES)) if of >> at & 1)


def moves(position: TorerePosition) -> list[TorereMove]:
    """Return every legal move, in the order of the places moved from."""
    end = position.empty
    return [(start, end) for start in places(movable(position))]


def play(position: TorerePosition, move: TorereMove) -> TorerePosition:
    """Move the stone."""
    moved = 1 << move[0] | 1 << move[1]
    if position.turn:
        return TorerePosition(position.light, position.dark ^ moved, 0)
    return TorerePosition(position.light ^ moved, position.dark, 1)
