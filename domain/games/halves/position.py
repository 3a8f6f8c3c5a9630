"""Positions of Halves: how the group of tiles grows and falls apart, and whose turn it is.

A tile is the bit of its cell, in reading order among all cells of the match, so tile number n is
bit n - 1. A removed tile keeps its bit. While tiles are placed, new cells shift the bits.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Annotated, Final

import msgspec
from msgspec.structs import replace

from domain.boards.hexes import STEPS, Cell, CellNeighbours, cell, neighbours_of_cells
from domain.boards.sets import bits
from domain.game.protocol import Seat

FIRST_CELLS: Final = (cell(0, 0), cell(0, 1), cell(1, 0))
"""The cells of the seats' first tiles."""
OVER: Final = -1
"""The turn when the match is over."""


class TouchRule(StrEnum):
    """The tiles that a new one must touch, by their flags."""

    ANY = "touch_any"
    ENEMY = "touch_enemy"


class KeepRule(StrEnum):
    """The group that survives, by the flags."""

    CHOSEN = "keep_chosen"
    LARGEST = "keep_largest"
    MOST_FRIENDLY = "keep_most_friendly"


class HalvesOptions(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The options of a match."""

    tiles_each: Annotated[int, msgspec.Meta(ge=2, le=60)] = 12
    manual_start: bool = False
    no_contract: bool = False
    invert_win: bool = False
    must_touch: Annotated[int, msgspec.Meta(ge=1, le=2)] = 1
    touch: TouchRule = TouchRule.ENEMY
    free_edges: Annotated[int, msgspec.Meta(ge=0, le=6)] = 0
    keep: KeepRule = KeepRule.LARGEST


class HalvesPhase(IntEnum):
    """The parts of a match."""

    GROW = 0
    """Tiles are placed, with `-manual_start`."""
    CONTRACT = 1
    """The first player keeps or swaps colours."""
    SHRINK = 2
    """Tiles are removed."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    NO_TILE = "no-tile"
    """A player has no tile left and wins; several at once share the win."""
    LAST_TILES = "last-tiles"
    """With `-invert_win`: only one player has tiles left and wins; players who lost their last
    tiles at once share the win."""
    STUCK = "stuck"
    """Nobody can remove a tile: the fewest tiles win, with `-invert_win` the most."""


class HalvesPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The cells of the match, the tiles on them, the colours of the seats, and the seat to move."""

    options: HalvesOptions
    phase: HalvesPhase
    cells: tuple[Cell, ...]
    """The cells of all tiles ever placed, in reading order."""
    tiles_packed: tuple[bytes, ...]
    """The set of tiles of each colour, packed by `pack_tiles` because it may have more than 64 bits."""
    colours: tuple[int, ...]
    """The colour of each seat."""
    turn: Seat
    """The seat to move; `OVER` when the match is over."""
    out: int = 0
    """The set of seats that have left."""

    @property
    def tiles(self) -> tuple[int, ...]:
        """The set of tiles of each colour."""
        return tuple([int.from_bytes(tiles, "little") for tiles in self.tiles_packed])

    @property
    def present(self) -> int:
        """The set of all tiles."""
        return sum(self.tiles)

    def owned(self, seat: Seat) -> int:
        """Return a seat's tiles."""
        return int.from_bytes(self.tiles_packed[self.colours[seat]], "little")

    def active_seats(self) -> list[Seat]:
        """Return the seats that have not left."""
        return [seat for seat in range(len(self.colours)) if not self.out >> seat & 1]


def pack_tiles(tiles: Iterable[int], cells: int) -> tuple[bytes, ...]:
    """Return sets of tiles as bytes, for a position with that number of cells."""
    length = (cells + 7) // 8
    return tuple([one.to_bytes(length, "little") for one in tiles])


class HalvesMove(msgspec.Struct, frozen=True, gc=False):
    """The number of a cell or tile, and the number of a tile in the group to keep, 0 for none.

    `KEEP` and `SWAP` have the number 0.
    """

    number: int
    kept: int = 0


KEEP: Final = HalvesMove(0, 0)
SWAP: Final = HalvesMove(0, 1)


def first_position(options: HalvesOptions, players: int) -> HalvesPosition:
    """Return the position with one tile of each player."""
    cells = FIRST_CELLS[:players]
    order = sorted(cells)
    colours = tuple(range(players))
    tiles = pack_tiles((1 << order.index(at) for at in cells), players)
    return HalvesPosition(options, HalvesPhase.GROW, tuple(order), tiles, colours, 0)


def placeable_cells(position: HalvesPosition) -> tuple[Cell, ...]:
    """Return the cells on which the player to move can place a tile, in reading order."""
    return _placeable_cells(
        position.cells,
        position.present ^ position.owned(position.turn),
        position.options.must_touch,
        position.options.touch,
    )


@lru_cache(64)
def _placeable_cells(
    cells: tuple[Cell, ...], enemies: int, must_touch: int, touch: TouchRule
) -> tuple[Cell, ...]:
    """Return the cells for a new tile, next to `cells`; `enemies` are those of other colours.

    If no cell touches enough tiles, touching one of another colour is enough, and then any.
    """
    occupied, touched = set(cells), Counter[Cell]()
    hostile: set[Cell] = set()
    for place, at in enumerate(cells):
        beside = [at + step for step in STEPS if at + step not in occupied]
        touched.update(beside)
        if enemies >> place & 1:
            hostile.update(beside)
    found = touched.keys() if touch is TouchRule.ANY else hostile
    enough = [at for at in found if touched[at] >= must_touch]
    return tuple(sorted(enough or found or touched))


def place_tile(position: HalvesPosition, at: Cell) -> HalvesPosition:
    """Place a tile of the player to move on a cell of `placeable_cells`."""
    where = bisect(position.cells, at)
    before = (1 << where) - 1
    tiles = [tiles & before | (tiles & ~before) << 1 for tiles in position.tiles]
    tiles[position.turn] |= 1 << where
    return after_placing(
        HalvesPosition(
            position.options,
            HalvesPhase.GROW,
            (*position.cells[:where], at, *position.cells[where:]),
            pack_tiles(tiles, len(position.cells) + 1),
            position.colours,
            position.turn,
            position.out,
        )
    )


def after_placing(position: HalvesPosition) -> HalvesPosition:
    """Return a position with its next turn, or in its next phase if all tiles are placed."""
    for seat in _seats_after(position):
        if position.owned(seat).bit_count() < position.options.tiles_each:
            return replace(position, turn=seat)
    if position.options.no_contract or position.out & 0b11:
        return begin_shrinking(position)
    return replace(position, phase=HalvesPhase.CONTRACT, turn=0)


def _seats_after(position: HalvesPosition) -> list[Seat]:
    """Return the active seats in the order of turns; the present one is the last."""
    players = len(position.colours)
    seats = [(position.turn + steps) % players for steps in range(1, players + 1)]
    return [seat for seat in seats if not position.out >> seat & 1] if position.out else seats


def begin_shrinking(position: HalvesPosition) -> HalvesPosition:
    """Begin the last phase with the first active seat."""
    return advance_turn(replace(position, phase=HalvesPhase.SHRINK, turn=len(position.colours) - 1))


def advance_turn(position: HalvesPosition) -> HalvesPosition:
    """Return a position with its next turn; a player without a tile to remove is passed."""
    return replace(position, turn=_next_seat_to_remove(position))


def _next_seat_to_remove(position: HalvesPosition) -> Seat:
    if is_decided(position):
        return OVER
    for seat in _seats_after(position):
        if can_remove(position, seat):
            return seat
    return OVER


def is_decided(position: HalvesPosition) -> bool:
    """Return whether enough players have no tile left for the match to be over."""
    own_tiles = [position.owned(seat) != 0 for seat in position.active_seats()]
    return sum(own_tiles) < 2 if position.options.invert_win else not all(own_tiles)  # noqa: PLR2004


def can_remove(position: HalvesPosition, seat: Seat) -> bool:
    """Return whether a player has a tile with enough free edges."""
    return any(True for _ in removable(position, seat))


def removable(position: HalvesPosition, seat: Seat) -> Iterator[int]:
    """Yield a player's tiles with enough free edges."""
    own, most = position.owned(seat), len(STEPS) - position.options.free_edges
    if most == len(STEPS):
        return bits(own)
    near, present = neighbours_of_cells(position.cells).neighbours, position.present
    return (tile for tile in bits(own) if (near[tile] & present).bit_count() <= most)


def surviving_groups(position: HalvesPosition, tile: int) -> list[int]:
    """Return the groups that may survive if the player to move removes a tile.

    If there are several, the player chooses one.
    """
    return groups_left(
        position, neighbours_of_cells(position.cells), position.present ^ 1 << tile, tile
    )


def groups_left(position: HalvesPosition, shape: CellNeighbours, rest: int, tile: int) -> list[int]:
    """Return the groups that may survive, from the neighbours of the cells and the tiles without that one."""
    if shape.parts[tile][shape.neighbours[tile] & rest] < 2:  # noqa: PLR2004 - one part, or none
        return [rest]
    groups = shape.groups(rest)
    match position.options.keep:
        case KeepRule.CHOSEN:
            return groups
        case KeepRule.LARGEST:
            sizes = [group.bit_count() for group in groups]
        case _:
            own = position.owned(position.turn)
            sizes = [(group & own).bit_count() for group in groups]
    most = max(sizes)
    return [group for group, size in zip(groups, sizes, strict=True) if size == most]


def lowest_number(group: int) -> int:
    """Return the lowest number of a group's tiles."""
    return (group & -group).bit_length()
