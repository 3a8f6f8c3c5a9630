"""Positions and moves of Cooperative That's My Line."""

from typing import Final

import msgspec

from domain.boards.pow2_board import NAMES, unopposed

Intersection = int
"""A move: the index of the intersection for a stone, or `FINISH`."""
FINISH: Final[Intersection] = len(NAMES)

NEITHER: Final = 2
"""The colour at the end."""
COLOURS: Final = ("light", "dark", None)


class DuoPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones of both colours, and the next colour."""

    light: int
    dark: int
    colour: int
    """The next colour, which has a place, because passes are automatic; `NEITHER` at the end."""
    done: bool


def places(position: DuoPosition) -> int:
    """Return the places for the next colour, as a set."""
    light, dark, colour = position.light, position.dark, position.colour
    if colour == NEITHER:
        return 0
    return unopposed(dark, light) if colour else unopposed(light, dark)


def play(position: DuoPosition, move: Intersection) -> DuoPosition:
    """Place a stone, and pass a colour without a place."""
    light, dark, colour = position.light, position.dark, position.colour
    if move == FINISH:
        return DuoPosition(light, dark, NEITHER, done=True)
    if colour:
        dark |= 1 << move
        after = 0 if unopposed(light, dark) else 1 if unopposed(dark, light) else NEITHER
    else:
        light |= 1 << move
        after = 1 if unopposed(dark, light) else 0 if unopposed(light, dark) else NEITHER
    return DuoPosition(light, dark, after, done=False)
