"""Positions of the Power of Two in their JSON form."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from domain.boards.pow2_board import ADJACENT, NAMES, bits, read_pieces
from domain.games.pow2.position import (
    FREE_PIECES,
    PIECES,
    PLACING,
    Pow2Options,
    Pow2Position,
    Pow2Start,
    flags_of,
    letters,
)
from domain.rules.checks import bad_position, read_position
from domain.rules.protocol import Seat

KEY: Final = "pow2"


class _PositionJson(msgspec.Struct, forbid_unknown_fields=True):
    board: dict[str, Literal["O", "o", "X", "x"]]
    supply: tuple[int, int]


def _in_placing(boards: Mapping[str, int]) -> bool:
    """Return whether a match with `-free` is still in its placing phase.

    Count two lives for a fresh piece and one for an aged one. A turn that serves k neighbours
    adds 2k lives and costs at most k + 1. A turn without enough pieces costs at most four lives,
    and the player has twelve pieces or more on the board. So a player with the eight lives of four
    fresh pieces never has fewer again. Before that Dark, who places last, has fewer.
    """
    return 2 * boards["X"].bit_count() + boards["x"].bit_count() < 2 * FREE_PIECES


def _check_placing(boards: Mapping[str, int], to_move: Seat) -> None:
    light, dark = boards["O"], boards["X"]
    beside = any(ADJACENT[at] & (light | dark) for at in bits(light | dark))
    if boards["o"] or boards["x"] or beside or light.bit_count() != dark.bit_count() + to_move:
        raise bad_position(KEY, "it doesn't come about while the first pieces are placed (-free)")


def from_json(data: object, options: Pow2Options, to_move: Seat) -> Pow2Position:
    """Read what `to_json` returned."""
    form = read_position(data, _PositionJson, KEY)
    boards = read_pieces(form.board, "OoXx", KEY)
    left = (
        PIECES - (boards["O"] | boards["o"]).bit_count(),
        PIECES - (boards["X"] | boards["x"]).bit_count(),
    )
    if min(left) < 0 or form.supply != left:
        raise bad_position(KEY, f"board and supply don't make {PIECES} pieces each")
    if to_move not in (0, 1) or left[to_move] == 0:
        raise bad_position(KEY, f"it can't be the turn of seat {to_move}")
    flags = flags_of(options)
    if options.start is Pow2Start.FREE and _in_placing(boards):
        _check_placing(boards, to_move)
        flags |= PLACING
    return Pow2Position(boards["O"], boards["o"], boards["X"], boards["x"], to_move, flags)


def to_json(position: Pow2Position) -> dict[str, Any]:
    """Return the pieces on the board and the number each player has left to place."""
    light = (position.light_fresh | position.light_aged).bit_count()
    dark = (position.dark_fresh | position.dark_aged).bit_count()
    return {
        "board": {NAMES[at]: letter for at, letter in letters(position).items()},
        "supply": [PIECES - light, PIECES - dark],
    }
