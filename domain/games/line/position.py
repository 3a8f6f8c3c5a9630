"""Positions and moves of That's My Line."""

from typing import Final

import msgspec

from domain.boards.pow2_board import open_to
from domain.rules.protocol import Seat

SIDES: Final = ("Light", "Dark")

Intersection = int
"""A move: the intersection, by its index, on which a stone is placed."""


class LinePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones as sets of intersections, the seat to move, and the limit of stones, 0 for none.

    The seat to move can place, because passes are automatic. When neither can, `turn` is the seat
    that did not place last.
    """

    light: int
    dark: int
    turn: Seat
    limit: int


def _room(own: int, opposing: int, limit: int) -> int:
    """Return the intersections open to a player, as a set."""
    if limit and own.bit_count() >= limit:
        return 0
    return open_to(own, opposing)


def room_of(position: LinePosition, seat: Seat) -> int:
    """Return the intersections open to a seat, as a set."""
    if seat:
        return _room(position.dark, position.light, position.limit)
    return _room(position.light, position.dark, position.limit)


def room(position: LinePosition) -> int:
    """Return the intersections open to the player to move, as a set."""
    return room_of(position, position.turn)


def play(position: LinePosition, move: Intersection) -> LinePosition:
    """Place a stone, and pass a player who can't place one."""
    light, dark, limit = position.light, position.dark, position.limit
    if position.turn:
        dark |= 1 << move
        passed = not _room(light, dark, limit) and _room(dark, light, limit)
    else:
        light |= 1 << move
        passed = not _room(dark, light, limit) and _room(light, dark, limit)
    return LinePosition(light, dark, position.turn if passed else 1 - position.turn, limit)
