"""Setups and positions of Halves in their JSON form."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from domain.boards.hexes import MAX_COORDINATE, Cell, axial, bits, cell
from domain.game.protocol import bad_setup, read_setup
from domain.games.halves.position import (
    FIRST_CELLS,
    SIDES,
    HalvesOptions,
    HalvesPhase,
    HalvesPosition,
    first_position,
    place_tile,
    placeable_cells,
)

KEY: Final = "halves"

_PHASE_NAMES: Final = {
    HalvesPhase.GROW: "wax",
    HalvesPhase.CONTRACT: "contract",
    HalvesPhase.SHRINK: "wane",
}


class _HalvesSetupJson(msgspec.Struct, forbid_unknown_fields=True):
    tiles: list[tuple[int, int, int]]


def _cell(q: int, r: int) -> Cell:
    if max(abs(q), abs(r)) > MAX_COORDINATE:
        raise bad_setup(KEY, f"no tile gets as far as ({q},{r})")
    return cell(q, r)


# --- setups


def setup_json(placed: Sequence[tuple[Cell, int]]) -> dict[str, Any]:
    """Return a setup from cells and colours, in order of placement."""
    return {"tiles": [[*axial(at), colour] for at, colour in placed]}


def position_of_setup(data: object, options: HalvesOptions, players: int) -> HalvesPosition:
    """Return the first position, from a setup that chance may have drawn."""
    tiles = read_setup(data, _HalvesSetupJson, KEY).tiles
    if len(tiles) != players * options.tiles_each:
        raise bad_setup(
            KEY, f"{len(tiles)} tiles are not {options.tiles_each} for each of {players}"
        )
    for seat, (q, r, colour) in enumerate(tiles[:players]):
        if (_cell(q, r), colour) != (FIRST_CELLS[seat], seat):
            first = "({},{})".format(*axial(FIRST_CELLS[seat]))
            raise bad_setup(KEY, f"tile {seat + 1} is {SIDES[seat]}'s first and lies at {first}")
    position = first_position(options, players)
    for number, (q, r, colour) in enumerate(tiles[players:], players + 1):
        if colour != position.turn:
            raise bad_setup(
                KEY, f"tile {number} has colour {colour}, and it is {SIDES[position.turn]}'s turn"
            )
        if _cell(q, r) not in placeable_cells(position):
            raise bad_setup(KEY, f"tile {number} can't be placed at ({q},{r})")
        position = place_tile(position, _cell(q, r))
    return position


# --- positions


def to_json(position: HalvesPosition) -> dict[str, Any]:
    """Return phase, colours and tiles; then removed tiles, seats that left, and free cells, if any."""
    growing = position.phase is HalvesPhase.GROW
    colour_of = {tile: c for c, tiles in enumerate(position.tiles) for tile in bits(tiles)}
    tiles, gone = [], []
    for tile, at in enumerate(position.cells):
        if tile in colour_of:
            tiles.append([*axial(at), colour_of[tile], None if growing else tile + 1])
        else:
            gone.append([*axial(at), tile + 1])
    form = {
        "phase": _PHASE_NAMES[position.phase],
        "colours": list(position.colours),
        "tiles": tiles,
    }
    if gone:
        form["gone"] = gone
    if position.out:
        form["out"] = list(bits(position.out))
    if growing:
        free = enumerate(placeable_cells(position), 1)
        form["cells"] = [[*axial(at), number] for number, at in free]
    return form
