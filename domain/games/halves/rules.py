"""Halves: a group of hexagonal tiles grows, then shrinks, and a player without tiles wins.

1. Each player begins with one tile. Chance (with `-manual_start` the players) adds tiles until all
   have 12, each on a cell that touches a tile of another colour.
2. A keeps the colours or swaps them with B, who begins to remove; without a contract A begins.
3. In turn each player removes one tile of the own colour. If the others fall apart, the largest
   group survives (`-keep_*`: another) and the rest goes too; of several the mover chooses.
4. A player without tiles wins; several at once share. With `-invert_win` the last with tiles wins.
5. A player is passed who has no tile with enough `-free_edges`; if nobody has one, the fewest
   tiles win.

Notation: `3` (the cell or tile of this number), `4,2` (remove 4, keep the group of 2; written
with the group's lowest number, and only where there is a choice), `keep`, `swap`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from domain.boards.hexes import MAX_COORDINATE, STEPS, Cell, axial, cell, neighbours_of_cells
from domain.boards.sets import bits
from domain.errors import Code, Refusal
from domain.game.protocol import (
    Chance,
    GameOutcome,
    Rules,
    Seat,
    bad_setup,
    illegal_move,
    read_setup,
    unreadable_move,
)
from domain.games.halves.position import (
    FIRST_CELLS,
    KEEP,
    OVER,
    SWAP,
    Ending,
    HalvesMove,
    HalvesOptions,
    HalvesPhase,
    HalvesPosition,
    KeepRule,
    advance_turn,
    after_placing,
    begin_shrinking,
    first_position,
    groups_left,
    is_decided,
    lowest_number,
    pack_tiles,
    place_tile,
    placeable_cells,
    removable,
    surviving_groups,
)
from domain.games.halves.sentences import SAY, SIDES, packed_groups
from domain.sentences import Text

KEY: Final = "halves"
FORM: Final = SAY("form")
WORDS: Final = {"keep": KEEP, "swap": SWAP}
NUMBERS: Final = "([1-9][0-9]{0,3})(?:,([1-9][0-9]{0,3}))?"
_NUMBERS: Final = re.compile(NUMBERS)
_STUCK_FROM: Final = 4
"""From this number of free edges on, all tiles may lack them; an outermost tile always has three."""
PHASE_NAMES: Final = {
    HalvesPhase.GROW: "wax",
    HalvesPhase.CONTRACT: "contract",
    HalvesPhase.SHRINK: "wane",
}


class _HalvesSetupJson(msgspec.Struct, forbid_unknown_fields=True):
    tiles: list[tuple[int, int, int]]


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


def _cell(q: int, r: int) -> Cell:
    if max(abs(q), abs(r)) > MAX_COORDINATE:
        raise bad_setup(KEY, f"no tile gets as far as ({q},{r})")
    return cell(q, r)


def _stuck_outcome(left: Mapping[Seat, int], *, inverted: bool) -> GameOutcome:
    """Return the ending when nobody can remove a tile, from the number of tiles of each seat."""
    best = max(left.values()) if inverted else min(left.values())
    winners = tuple(seat for seat in left if left[seat] == best)
    seats = bytes(winners)
    if len(winners) == len(left):
        said = SAY("stuck-each", seats=seats, tiles=best)
    elif inverted:
        said = SAY("stuck-most", seats=seats, tiles=best, each=len(winners))
    else:
        said = SAY("stuck-fewest", seats=seats, tiles=best, each=len(winners))
    return GameOutcome(winners, Ending.STUCK, said)


def canonical(position: HalvesPosition, move: HalvesMove) -> HalvesMove | None:
    """Return the canonical form of a legal move; None for an illegal one. The match is not over."""
    if position.phase is HalvesPhase.GROW:
        return (
            move if 1 <= move.number <= len(placeable_cells(position)) and not move.kept else None
        )
    if position.phase is HalvesPhase.CONTRACT:
        return None if move.number else move
    tile = move.number - 1
    if tile not in removable(position, position.turn):
        return None
    groups = surviving_groups(position, tile)
    meant = [group for group in groups if move.kept and group >> (move.kept - 1) & 1]
    if len(groups) == 1:
        return HalvesMove(move.number) if meant or not move.kept else None
    return HalvesMove(move.number, lowest_number(meant[0])) if meant else None


def why_illegal(position: HalvesPosition, move: HalvesMove) -> Text:
    """Return which rule an illegal move breaks, and where. The match is not over."""
    if position.phase is HalvesPhase.CONTRACT:
        return SAY("due", mover=position.turn)
    if not move.number:
        return SAY("not-due")
    if position.phase is HalvesPhase.GROW:
        return _placing_problem(position, move)
    return _tile_problem(position, move.number) or _group_problem(position, move)


def _placing_problem(position: HalvesPosition, move: HalvesMove) -> Text:
    if move.kept:
        return SAY("early")
    return SAY("cell", number=move.number, most=len(placeable_cells(position)))


def _tile_problem(position: HalvesPosition, number: int) -> Text | None:
    """Return what is wrong with the tile to be removed."""
    if missing := _missing_problem(position, number):
        return missing
    owner = next(s for s in range(len(position.colours)) if position.owned(s) >> number - 1 & 1)
    if owner != position.turn:
        return SAY("owner", number=number, other=owner, mover=position.turn)
    near = neighbours_of_cells(position.cells).neighbours[number - 1] & position.present
    free, needed = len(STEPS) - near.bit_count(), position.options.free_edges
    if free < needed:
        if free == 1:
            return SAY("edge", number=number, needed=needed)
        return SAY("edges", number=number, free=free, needed=needed)
    return None


def _missing_problem(position: HalvesPosition, number: int) -> Text | None:
    """Return the sentence on a number that no tile has, or None."""
    if number > len(position.cells):
        return SAY("tile", number=number, most=len(position.cells))
    if not position.present >> number - 1 & 1:
        return SAY("gone", number=number)
    return None


def _group_problem(position: HalvesPosition, move: HalvesMove) -> Text:
    """Return what is wrong with the group that is to survive."""
    groups = surviving_groups(position, move.number - 1)
    packed = packed_groups(groups)
    if not move.kept:
        return SAY("which", groups=packed, number=move.number)
    if move.kept == move.number:
        return SAY("removed", kept=move.kept)
    if missing := _missing_problem(position, move.kept):
        return missing
    if len(groups) > 1:
        return SAY("may", kept=move.kept, groups=packed, number=move.number)
    if position.options.keep is KeepRule.MOST_FRIENDLY:
        return SAY("friendly", kept=move.kept, groups=packed)
    return SAY("does", kept=move.kept, groups=packed)


class HalvesRules(Rules[HalvesPosition, HalvesMove, HalvesOptions]):
    """Halves, version 1."""

    key = KEY
    title = "Halves"
    players: tuple[int, ...] = (2, 3)
    sides: tuple[Text, ...] = SIDES
    displays: tuple[str, ...] = ("numbered", "plain")
    has_one_spelling: bool = False
    position_type = HalvesPosition
    options_type = HalvesOptions

    def option_warning(self, options: HalvesOptions) -> Text:
        """Return a warning if all tiles may lack the free edges."""
        if options.free_edges < _STUCK_FROM:
            return ""
        return SAY("may-be-stuck", edges=options.free_edges, winner=int(options.invert_win))

    def colour_text(self, seat: Seat, position: HalvesPosition | None = None) -> Text:
        """Return the colour of a side's tiles, because A, B and C say nothing; before a board, of its first ones."""
        return SAY("colour", colour=seat if position is None else position.colours[seat])

    def needs_draw(self, options: HalvesOptions, players: int) -> bool:
        """Return whether chance places the tiles."""
        del players
        return not options.manual_start

    def draw(self, options: HalvesOptions, players: int, chance: Chance) -> object | None:
        """Place the tiles in turn, each on one of the possible cells, all equally likely."""
        if options.manual_start:
            return None
        position = first_position(options, players)
        placed = list(zip(FIRST_CELLS, range(players), strict=False))
        while position.phase is HalvesPhase.GROW:
            free = placeable_cells(position)
            at = free[chance.below("halves/placement", len(free))]
            placed.append((at, position.turn))
            position = place_tile(position, at)
        return setup_json(placed)

    def start(self, options: HalvesOptions, players: int, setup: object | None) -> HalvesPosition:
        """Return the first position: one tile of each with `-manual_start`, or that of the setup."""
        self.check_players(players)
        if not options.manual_start:
            return position_of_setup(setup, options, players)
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, "with -manual_start chance draws no setup for halves")
        return first_position(options, players)

    def to_move(self, position: HalvesPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.turn == OVER else position.turn

    def moves(self, position: HalvesPosition) -> list[HalvesMove]:
        """Return all legal moves, each once, ordered by number."""
        if position.turn == OVER:
            return []
        if position.phase is HalvesPhase.GROW:
            return [HalvesMove(number) for number in range(1, len(placeable_cells(position)) + 1)]
        if position.phase is HalvesPhase.CONTRACT:
            return [KEEP, SWAP]
        found = []
        shape, present = neighbours_of_cells(position.cells), position.present
        for tile in removable(position, position.turn):
            groups = groups_left(position, shape, present ^ 1 << tile, tile)
            if len(groups) == 1:
                found.append(HalvesMove(tile + 1))
            else:
                found += [HalvesMove(tile + 1, lowest_number(group)) for group in groups]
        return found

    def read(self, text: str) -> HalvesMove:
        """Return the move that a text has: one or two numbers, or a word of the contract."""
        plain = "".join(text.split()).lower()
        if text.isascii() and plain in WORDS:
            return WORDS[plain]
        found = _NUMBERS.fullmatch(plain)
        if not found:
            raise unreadable_move(text, FORM)
        return HalvesMove(int(found[1]), int(found[2] or 0))

    def write(self, move: HalvesMove) -> str:
        """Return the canonical text of a move."""
        if not move.number:
            return "swap" if move.kept else "keep"
        return f"{move.number},{move.kept}" if move.kept else f"{move.number}"

    def check(self, position: HalvesPosition, move: HalvesMove) -> HalvesMove:
        """Return the canonical legal move, or raise `IllegalMove`."""
        if over := self.outcome(position):
            raise illegal_move(self.write(move), SAY("over", detail=over.detail))
        meant = canonical(position, move)
        if meant is None:
            raise illegal_move(self.write(move), why_illegal(position, move))
        return meant

    def play(self, position: HalvesPosition, move: HalvesMove) -> HalvesPosition:
        """Apply a canonical legal move."""
        if position.phase is HalvesPhase.GROW:
            return place_tile(position, placeable_cells(position)[move.number - 1])
        if position.phase is HalvesPhase.CONTRACT:
            first, second, *rest = position.colours
            colours = (second, first, *rest) if move == SWAP else position.colours
            return advance_turn(replace(position, phase=HalvesPhase.SHRINK, colours=colours))
        groups = surviving_groups(position, move.number - 1)
        kept = 1 << move.kept - 1 if move.kept else groups[0]
        (left,) = [group for group in groups if group & kept]
        tiles = pack_tiles([tiles & left for tiles in position.tiles], len(position.cells))
        return advance_turn(replace(position, tiles_packed=tiles))

    def outcome(self, position: HalvesPosition) -> GameOutcome | None:
        """Return the ending among the active players."""
        if position.turn != OVER:
            return None
        seats, inverted = position.active_seats(), position.options.invert_win
        left = {seat: position.owned(seat).bit_count() for seat in seats}
        owners = tuple(seat for seat in seats if left[seat])
        if inverted and len(owners) < 2:  # noqa: PLR2004 - the last player with tiles
            if owners:
                return GameOutcome(owners, Ending.LAST_TILES, SAY("alone", owner=owners[0]))
            return GameOutcome(tuple(seats), Ending.LAST_TILES, SAY("at-once", seats=bytes(seats)))
        if not inverted and len(owners) < len(seats):
            winners = tuple(seat for seat in seats if not left[seat])
            return GameOutcome(winners, Ending.NO_TILE, SAY("no-tile", seats=bytes(winners)))
        return _stuck_outcome(left, inverted=inverted)

    def remove_seat(self, position: HalvesPosition, seat: Seat) -> HalvesPosition:
        """Take a seat out: its tiles stay, it has no further turns, and it can't win."""
        after = replace(position, out=position.out | 1 << seat)
        match position.phase:
            case HalvesPhase.GROW:
                return after_placing(after) if seat == position.turn else after
            case HalvesPhase.CONTRACT:
                return begin_shrinking(after) if after.out & 0b11 else after
            case _:
                gone = seat == position.turn or is_decided(after)
                return advance_turn(after) if gone else after

    def to_json(self, position: HalvesPosition) -> dict[str, Any]:
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
            "phase": PHASE_NAMES[position.phase],
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

    def public_json(self, position: HalvesPosition) -> dict[str, Any]:
        """Return phase, colours by seat and tiles."""
        form = self.to_json(position)
        return {key: form[key] for key in ("phase", "colours", "tiles")}
