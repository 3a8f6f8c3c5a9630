"""Positions of That's My Line: where stones can be placed, and who is passed."""

from typing import Final

import msgspec

from domain.boards.pow2_board import open_to
from domain.rules.protocol import Seat

SIDES: Final = ("Light", "Dark")

Intersection = int
"""A move: the intersection, by its index, on which a stone is placed."""


class LinePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones as sets of intersections, the seat whose turn it is, the stones each has.

    The turn is that of a player who can place, for passes are automatic; when neither can, it
    is that of the player who did not place last.
    """

    light: int
    dark: int
    turn: Seat
    limit: int


def _room(own: int, opposing: int, limit: int) -> int:
    """Return where a player may place a stone."""
    if limit and own.bit_count() >= limit:
        return 0
    return open_to(own, opposing)


def room_of(position: LinePosition, seat: Seat) -> int:
    """Return where the player of a seat may place a stone, as a set."""
    if seat:
        return _room(position.dark, position.light, position.limit)
    return _room(position.light, position.dark, position.limit)


def room(position: LinePosition) -> int:
    """Return where the player whose turn it is may place a stone, as a set."""
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
