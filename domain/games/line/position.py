"""Positions and moves of That's My Line."""

from typing import Final

import msgspec

from domain.boards.pow2_board import unopposed
from domain.game.protocol import Seat

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


def _open_places(own: int, opposing: int, limit: int) -> int:
    """Return the intersections open to a player, as a set."""
    if limit and own.bit_count() >= limit:
        return 0
    return unopposed(own, opposing)


def open_places_of(position: LinePosition, seat: Seat) -> int:
    """Return the intersections open to a seat, as a set."""
    if seat:
        return _open_places(position.dark, position.light, position.limit)
    return _open_places(position.light, position.dark, position.limit)


def open_places(position: LinePosition) -> int:
    """Return the intersections open to the player to move, as a set."""
    return open_places_of(position, position.turn)


def play(position: LinePosition, move: Intersection) -> LinePosition:
    """Place a stone, and pass a player who can't place one."""
    light, dark, limit = position.light, position.dark, position.limit
    if position.turn:
        dark |= 1 << move
        passed = not _open_places(light, dark, limit) and _open_places(dark, light, limit)
    else:
        light |= 1 << move
        passed = not _open_places(dark, light, limit) and _open_places(light, dark, limit)
    return LinePosition(light, dark, position.turn if passed else 1 - position.turn, limit)
