"""The grid of Powerdrain: its sections, the plugs, and the voltage that the plugs in it have left."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Final

from domain.boards.grid import SquareGrid
from domain.game.protocol import Seat

DIGITS: Final = (1, 3, 5, 7, 9)
"""The digits of each edge, which has them in some order."""
SECTIONS: Final = tuple(f"{left}{top}" for left, top in product("13579", repeat=2))
"""The sections' names; a section is an index into them."""
PLUGS: Final = tuple(f"{first}{second}" for first, second in product("2468", repeat=2))
"""The plugs' names; a plug is an index into them."""
SECTION: Final = {name: index for index, name in enumerate(SECTIONS)}
PLUG: Final = {name: index for index, name in enumerate(PLUGS)}
Edge = Sequence[int]


def plug_names(plugs: int) -> list[str]:
    """Return the names of a set of plugs, in order."""
    return [name for plug, name in enumerate(PLUGS) if plugs >> plug & 1]


def grid_bytes(plugged: Iterable[tuple[str, str, Seat]]) -> bytes:
    """Return the grid's bytes from the names of sections and plugs, and seats."""
    grid = bytearray(len(SECTIONS))
    for section, plug, seat in plugged:
        grid[SECTION[section]] = 1 + PLUG[plug] + len(PLUGS) * seat
    return bytes(grid)


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
_BESIDE: Final = SquareGrid(len(DIGITS), len(DIGITS)).beside
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


def volts_left(position: Mapping[str, Any]) -> dict[str, int]:
    """Return the signed voltage that each plug has left, by section, from a position's JSON form."""
    grid = position["grid"]
    plugged = grid_bytes((section, plug, seat) for section, (plug, seat) in grid.items())
    left = remaining_volts(position["left"], position["top"], plugged)
    return {section: left[SECTION[section]] for section in grid}
