"""Setups and positions of Halves in their JSON form."""

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from domain.boards.hexes import MAX_COORDINATE, Cell, axial, bits, cell, neighbours_of_cells
from domain.games.halves.position import (
    FIRST_CELLS,
    OVER,
    SIDES,
    HalvesOptions,
    HalvesPhase,
    HalvesPosition,
    advance_turn,
    can_remove,
    first_position,
    pack_tiles,
    place_tile,
    placeable_cells,
)
from domain.rules.checks import bad_setup, read_setup
from domain.rules.protocol import Seat

KEY: Final = "halves"

_PHASE_NAMES: Final = {
    HalvesPhase.GROW: "wax",
    HalvesPhase.CONTRACT: "contract",
    HalvesPhase.SHRINK: "wane",
}
_PHASES: Final = {name: phase for phase, name in _PHASE_NAMES.items()}


class _HalvesSetupJson(msgspec.Struct, forbid_unknown_fields=True):
    tiles: list[tuple[int, int, int]]


class _PositionJson(msgspec.Struct, forbid_unknown_fields=True):
    phase: Literal["wax", "contract", "wane"]
    colours: list[int]
    tiles: list[tuple[int, int, int, int | None]]
    gone: list[tuple[int, int, int]] = []
    out: list[int] = []
    cells: list[tuple[int, int, int]] | None = None


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


def from_json(data: object, options: HalvesOptions, to_move: Seat) -> HalvesPosition:
    """Read what `to_json` returned; `gone` and `cells` may be left out."""
    form = read_setup(data, _PositionJson, KEY)
    _check_players(form, options)
    position = _position(form, options, to_move)
    _check_tiles(position)
    if position.phase is HalvesPhase.SHRINK:
        return _with_checked_turn(position, to_move)
    if position.phase is HalvesPhase.CONTRACT:
        _check_contract(position)
    else:
        _check_growing(position, form)
    return position


def _check_players(form: _PositionJson, options: HalvesOptions) -> None:
    players = len(form.colours)
    allowed = [[0, 1, 2][:players]]
    if form.phase == "wane" and not options.no_contract:
        allowed.append([1, 0, 2][:players])
    if players not in (2, 3) or form.colours not in allowed:
        raise bad_setup(KEY, f"the colours can't be {form.colours}")
    if form.out and (players == 2 or form.out not in ([0], [1], [2])):  # noqa: PLR2004
        raise bad_setup(KEY, f"the seats that are out can't be {form.out} while a match goes on")
    if len(form.tiles) + len(form.gone) > players * options.tiles_each:
        raise bad_setup(KEY, f"there are at most {options.tiles_each} tiles for each")


def _position(form: _PositionJson, options: HalvesOptions, to_move: Seat) -> HalvesPosition:
    players, growing = len(form.colours), form.phase == "wax"
    numbered = {_cell(q, r): number for q, r, _, number in form.tiles}
    numbered |= {_cell(q, r): number for q, r, number in form.gone}
    cells = tuple(sorted(numbered))
    if len(cells) != len(form.tiles) + len(form.gone):
        raise bad_setup(KEY, "a cell is named twice")
    for number, at in enumerate(cells, 1):
        if numbered[at] != (None if growing else number):
            due = "no number while tiles are placed" if growing else f"number {number}"
            raise bad_setup(KEY, "the tile at ({},{}) has {}".format(*axial(at), due))
    tiles = [0] * players
    for q, r, colour, _ in form.tiles:
        if not 0 <= colour < players:
            raise bad_setup(KEY, f"there is no colour {colour} among {players} players")
        tiles[colour] |= 1 << cells.index(_cell(q, r))
    return HalvesPosition(
        options,
        _PHASES[form.phase],
        cells,
        pack_tiles(tiles, len(cells)),
        tuple(form.colours),
        to_move,
        sum(1 << seat for seat in form.out),
    )


def _check_tiles(position: HalvesPosition) -> None:
    most = position.options.tiles_each
    if max(tiles.bit_count() for tiles in position.tiles) > most:
        raise bad_setup(KEY, f"no colour has more than {most} tiles")
    if (
        not position.present
        or len(neighbours_of_cells(position.cells).groups(position.present)) != 1
    ):
        raise bad_setup(KEY, "the tiles are not all connected")


def _with_checked_turn(position: HalvesPosition, to_move: Seat) -> HalvesPosition:
    """Return a position of the last phase with its turn checked, `OVER` if the match is over."""
    seats = position.active_seats()
    due = advance_turn(msgspec.structs.replace(position, turn=0)).turn
    if due == OVER:
        return msgspec.structs.replace(position, turn=OVER)
    if to_move not in seats or not can_remove(position, to_move):
        raise bad_setup(KEY, f"it can't be the turn of seat {to_move}")
    return position


def _check_contract(position: HalvesPosition) -> None:
    counts = [position.owned(seat).bit_count() for seat in position.active_seats()]
    due = not position.options.no_contract and not position.out & 0b11
    if not due or set(counts) != {position.options.tiles_each} or position.turn != 0:
        raise bad_setup(KEY, "no contract is due")


def _check_growing(position: HalvesPosition, form: _PositionJson) -> None:
    """Refuse a placing phase that alternating turns don't lead to."""
    seats = position.active_seats()
    if not position.options.manual_start:
        raise bad_setup(KEY, "the players place tiles with -manual_start only")
    if position.turn not in seats:
        raise bad_setup(KEY, f"it can't be the turn of seat {position.turn}")
    counts = [tiles.bit_count() for tiles in position.tiles]
    turn = position.turn
    if any(counts[seat] != counts[turn] + (seat < turn) for seat in seats) or not all(counts):
        raise bad_setup(KEY, "the numbers of tiles are not from turns taken one after the other")
    if counts[turn] == position.options.tiles_each:
        raise bad_setup(KEY, "all tiles are placed")
    free = [(*axial(at), number) for number, at in enumerate(placeable_cells(position), 1)]
    if form.cells not in (None, free):
        raise bad_setup(KEY, "the free cells are others")
