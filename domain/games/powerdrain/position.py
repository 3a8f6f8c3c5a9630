"""Positions and moves of Powerdrain, the drain, and the ending."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import product
from operator import itemgetter
from typing import Final

import msgspec

from domain.game.protocol import Seat

DIGITS: Final = (1, 3, 5, 7, 9)
"""The digits of each edge, which has them in some order."""
SECTIONS: Final = tuple(f"{left}{top}" for left, top in product("13579", repeat=2))
"""The sections' names; a section is an index into them."""
PLUGS: Final = tuple(f"{first}{second}" for first, second in product("2468", repeat=2))
"""The plugs' names; a plug is an index into them."""
SIDES: Final = ("Positive", "Negative")
HAND: Final = len(PLUGS) // 2
SECTION: Final = {name: index for index, name in enumerate(SECTIONS)}
PLUG: Final = {name: index for index, name in enumerate(PLUGS)}

Edge = Sequence[int]


class EdgeOrder(StrEnum):
    """The orders of the edges, by their flags."""

    RANDOM = ""
    COUNTING = "o1"
    MIXED = "o2"


class PowerdrainOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    order: EdgeOrder = EdgeOrder.RANDOM
    p: bool = False
    """A common pool instead of hands."""


EDGES: Final[Mapping[EdgeOrder, tuple[int, ...]]] = {
    EdgeOrder.COUNTING: DIGITS,
    EdgeOrder.MIXED: (7, 9, 1, 3, 5),
}


class Ending(StrEnum):
    """Why a player has won after the last plug."""

    MORE_ACTIVE = "more-active"
    """One player has more active plugs, and wins."""
    MORE_POWER = "more-power"
    """Both have as many active plugs; the player with more voltage left in them wins."""
    EQUAL_POWER = "equal-power"
    """Both have as many active plugs and as much voltage left: a draw."""


class PowerdrainPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The edges, the grid and the plugs left."""

    left: tuple[int, ...]
    top: tuple[int, ...]
    grid: bytes
    """A byte for each of `SECTIONS`: 0, or 1 + plug for Positive's, 17 + plug for Negative's."""
    hands: tuple[int, ...]
    """Sets of plugs, as ints with those bits set: each player's hand, or the pool alone."""

    @property
    def plies(self) -> int:
        """The number of plugs in the grid."""
        return len(SECTIONS) - self.grid.count(0)

    @property
    def turn(self) -> Seat:
        """The seat to move while there are plugs left."""
        return self.plies % 2

    @property
    def over(self) -> bool:
        """Whether all plugs are in the grid."""
        return not any(self.hands)

    @property
    def hand(self) -> int:
        """The plugs that the player to move may choose from, as a set."""
        return self.hands[self.turn % len(self.hands)]


class PowerdrainMove(msgspec.Struct, frozen=True, gc=False):
    """A plug and the section it goes into."""

    plug: int
    section: int


_MOVES: Final = tuple(
    tuple(PowerdrainMove(plug, section) for section in range(len(SECTIONS)))
    for plug in range(len(PLUGS))
)


def plug_names(plugs: int) -> list[str]:
    """Return the names of a set of plugs, in order."""
    return [name for plug, name in enumerate(PLUGS) if plugs >> plug & 1]


def grid_bytes(plugged: Iterable[tuple[str, str, Seat]]) -> bytes:
    """Return the grid's bytes from the names of sections and plugs, and seats."""
    grid = bytearray(len(SECTIONS))
    for section, plug, seat in plugged:
        grid[SECTION[section]] = 1 + PLUG[plug] + len(PLUGS) * seat
    return bytes(grid)


def grid_of(position: PowerdrainPosition) -> dict[str, tuple[str, Seat]]:
    """Return plug and seat by section, in order."""
    return {
        SECTIONS[section]: (PLUGS[(byte - 1) % len(PLUGS)], (byte - 1) // len(PLUGS))
        for section, byte in enumerate(position.grid)
        if byte
    }


def moves(position: PowerdrainPosition) -> list[PowerdrainMove]:
    """Return all legal moves, each once, by plug and section."""
    hand = position.hand
    # at least nine sections are empty, so `itemgetter` returns a tuple
    empty = itemgetter(*[section for section, byte in enumerate(position.grid) if not byte])
    found: list[PowerdrainMove] = []
    for plug, into in enumerate(_MOVES):
        if hand >> plug & 1:
            found += empty(into)
    return found


def is_legal(position: PowerdrainPosition, move: PowerdrainMove) -> bool:
    """Return whether a move is legal."""
    return position.hand >> move.plug & 1 == 1 and not position.grid[move.section]


def play(position: PowerdrainPosition, move: PowerdrainMove) -> PowerdrainPosition:
    """Apply a legal move."""
    seat, grid, hands = position.turn, bytearray(position.grid), list(position.hands)
    grid[move.section] = 1 + move.plug + len(PLUGS) * seat
    hands[seat % len(hands)] ^= 1 << move.plug
    return PowerdrainPosition(position.left, position.top, bytes(grid), tuple(hands))


def plug_value(plug: str, section: str) -> int:
    """Return the voltage of a plug in a section before any drain, without its sign.

    It doesn't depend on the edges, because the name of a section consists of their digits.
    """
    return abs(int(plug[0]) - int(section[0])) + abs(int(plug[1]) - int(section[1]))


_VOLTS: Final = (
    (0,) * len(SECTIONS),
    *(tuple(plug_value(plug, section) for section in SECTIONS) for plug in PLUGS),
    *(tuple(-plug_value(plug, section) for section in SECTIONS) for plug in PLUGS),
)
"""The signed voltage of each byte of a grid in each section."""

_BESIDE: Final = tuple(
    tuple(
        5 * y + x
        for x, y in ((at % 5 - 1, at // 5), (at % 5 + 1, at // 5), (at % 5, at // 5 - 1),
                     (at % 5, at // 5 + 1))
        if 0 <= x < len(DIGITS) and 0 <= y < len(DIGITS)
    )
    for at in range(len(SECTIONS))
)  # fmt: skip
"""For each place of the grid, counted line by line, the places at its sides."""


def remaining_volts(left: Edge, top: Edge, grid: bytes) -> dict[int, int]:
    """Return the signed voltage that each plug in the grid has left, by section."""
    over = [digit // 2 for digit in top]
    sections = [digit // 2 * 5 + column for digit in left for column in over]
    volts = [_VOLTS[grid[section]][section] for section in sections]
    found = {}
    for section, full, beside in zip(sections, volts, _BESIDE, strict=True):
        if full > 0:
            found[section] = max(0, full + sum([volts[at] for at in beside if volts[at] < 0]))
        elif full < 0:
            found[section] = min(0, full + sum([volts[at] for at in beside if volts[at] > 0]))
    return found
