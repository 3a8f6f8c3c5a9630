"""The Power of Two: move a piece, let it meet its neighbours, and bring in more by triangles.

1. Move one own piece any distance along a line over empty intersections.
2. For each occupied neighbour of its destination, whose ever, place a new piece on an empty
   intersection that forms a triangle with both; each takes its own, or the move is illegal.
   With fewer pieces left than neighbours all that are left are placed (not with `-exact`).
3. If any were placed, the moved piece and the own ones of those neighbours age: fresh ones turn
   aged, aged ones return to the supply.
4. Who ends a turn with all 16 pieces on the board wins; who can't move loses.
5. With `-free` the players first place four pieces each, none next to another.

Notation: `m13-j7`, `a13-c11:a13,d10` (what is placed, sorted), `c3` (placing with `-free`).
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, Literal

import msgspec

from domain.boards.pow2_board import ADJACENT, INDEX, NAMES, bits
from domain.errors import Code, Refusal
from domain.rules.defaults import RulesDefaults
from domain.rules.pow2_faults import FORM, fault
from domain.rules.pow2_turns import (
    EXACT,
    FREE_PIECES,
    HAND,
    NOBORDER,
    PIECES,
    PLACING,
    SIDES,
    Pow2Move,
    Pow2Position,
    can_move,
    count_moves,
    is_legal,
    letters,
    moves,
    play,
    write,
)
from domain.rules.protocol import IllegalMove, Outcome, Seat, UnreadableMove

__all__ = [
    "Ending",
    "Pow2",
    "Pow2Move",
    "Pow2Options",
    "Pow2Position",
    "Start",
    "count_moves",
    "moves",
]


class Start(StrEnum):
    """The starting positions, by their flags."""

    CORNERS = ""
    FAST = "fast"
    MIDDLE = "middle"
    FREE = "free"


class Pow2Options(msgspec.Struct, frozen=True):
    """The options of a match."""

    exact: bool = False
    noborder: bool = False
    start: Start = Start.CORNERS


class Ending(StrEnum):
    """Why a match is over by the rules."""

    ALL_PLACED = "all-placed"
    """A player ended a turn with all 16 pieces on the board, and wins."""
    NO_MOVE = "no-move"
    """The player to move has no legal move, and loses."""


_STARTS: Final[Mapping[Start, tuple[str, str]]] = {
    Start.CORNERS: ("m1 m13", "a1 a13"),
    Start.FAST: ("m1 i5 i9 m13", "a1 e5 e9 a13"),
    Start.MIDDLE: ("m7 g13", "g1 a7"),
    Start.FREE: ("", ""),
}


def _flags(options: Pow2Options) -> int:
    return EXACT * options.exact | NOBORDER * options.noborder


def _intersection(name: str) -> int:
    try:
        return INDEX[name]
    except KeyError:
        problem = f"{name[:24]!r} is no intersection" if name else "an intersection is missing"
        raise UnreadableMove(f"{problem}; {FORM}") from None


def _read(text: str) -> Pow2Move:
    movement, colon, places = "".join(text.split()).lower().partition(":")
    origin, hyphen, target = movement.partition("-")
    if not text.isascii() or (not hyphen and (colon or origin not in INDEX)):
        raise UnreadableMove(f"{text[:24]!r} is no move; {FORM}")
    if not hyphen:
        return Pow2Move(HAND, INDEX[origin])
    placed = 0
    for name in places.split(",") if colon else ():
        piece = 1 << _intersection(name)
        if placed & piece:
            raise UnreadableMove(f"{name} is named twice; {FORM}")
        placed |= piece
    return Pow2Move(_intersection(origin), _intersection(target), placed)


class _PositionJson(msgspec.Struct, forbid_unknown_fields=True):
    board: dict[str, Literal["O", "o", "X", "x"]]
    supply: tuple[int, int]


def _bad(problem: str) -> Refusal:
    return Refusal(Code.BAD_SETUP, f"this is no position of pow2: {problem}")


def _boards(pieces: Mapping[str, str]) -> dict[str, int]:
    """Give the sets of intersections by letter."""
    boards = dict.fromkeys("OoXx", 0)
    for name, letter in pieces.items():
        if name not in INDEX:
            raise _bad(f"{name[:24]!r} is no intersection")
        boards[letter] |= 1 << INDEX[name]
    return boards


def _in_placing(boards: Mapping[str, int]) -> bool:
    """Tell whether a match with `-free` is still in its placing phase.

    Count two lives for a fresh piece and one for an aged one. A turn that serves k neighbours
    adds 2k lives and takes k + 1 at most; one that lacks pieces to place is made by a player
    with twelve or more and loses four lives at most. So nobody who once has the eight lives of
    four fresh pieces comes below them again, and before that Dark, who places last, has fewer.
    """
    return 2 * boards["X"].bit_count() + boards["x"].bit_count() < 2 * FREE_PIECES


def _check_placing(boards: Mapping[str, int], to_move: Seat) -> None:
    light, dark = boards["O"], boards["X"]
    beside = any(ADJACENT[at] & (light | dark) for at in bits(light | dark))
    if boards["o"] or boards["x"] or beside or light.bit_count() != dark.bit_count() + to_move:
        raise _bad("it doesn't come about while the first pieces are placed (-free)")


def _from_json(data: object, options: Pow2Options, to_move: Seat) -> Pow2Position:
    try:
        given = msgspec.convert(data, _PositionJson)
    except msgspec.ValidationError as error:
        raise _bad(str(error)) from None
    boards = _boards(given.board)
    left = (
        PIECES - (boards["O"] | boards["o"]).bit_count(),
        PIECES - (boards["X"] | boards["x"]).bit_count(),
    )
    if min(left) < 0 or given.supply != left:
        raise _bad(f"board and supply don't make {PIECES} pieces each")
    if to_move not in (0, 1) or left[to_move] == 0:
        raise _bad(f"it can't be the turn of seat {to_move}")
    flags = _flags(options)
    if options.start is Start.FREE and _in_placing(boards):
        _check_placing(boards, to_move)
        flags |= PLACING
    return Pow2Position(boards["O"], boards["o"], boards["X"], boards["x"], to_move, flags)


class Pow2(RulesDefaults):
    """The Power of Two, version 1."""

    key = "pow2"
    version = 1
    title = "The Power of Two"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("large", "small")
    position_type = Pow2Position
    options_type = Pow2Options

    def start(self, options: Pow2Options, players: int, setup: object | None) -> Pow2Position:
        """Give the first position; chance has no part in it."""
        if players not in self.players:
            raise Refusal(Code.BAD_PLAYERS, f"pow2 is played by two, not by {players}")
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, "pow2 has no setup that chance draws")
        light, dark = (
            sum(1 << INDEX[name] for name in names.split()) for names in _STARTS[options.start]
        )
        placing = PLACING if options.start is Start.FREE else 0
        return Pow2Position(light, 0, dark, 0, 0, _flags(options) | placing)

    def to_move(self, position: Pow2Position) -> Seat | None:
        """Give the seat to move, None when the match is over."""
        return None if position.won or not can_move(position) else position.turn

    def moves(self, position: Pow2Position) -> list[Pow2Move]:
        """Give every legal move."""
        return moves(position)

    def count_moves(self, position: Pow2Position) -> int:
        """Count the legal moves without making those of the last step."""
        return count_moves(position)

    def legal_moves(self, position: Pow2Position) -> Iterator[str]:
        """Yield every legal move by origin, destination and placements, in sorting order."""
        return map(write, sorted(moves(position), key=lambda move: move.origin << 6 | move.target))

    def read(self, text: str) -> Pow2Move:
        """Read `from-to`, `from-to:p1,p2` or, for the placing phase, an intersection."""
        return _read(text)

    def write(self, move: Pow2Move) -> str:
        """Give the canonical text of a move."""
        return write(move)

    def check(self, position: Pow2Position, move: Pow2Move) -> Pow2Move:
        """Give the move back if it is legal, else say which rule it breaks."""
        if is_legal(position, move):
            return move
        movement = write(Pow2Move(move.origin, move.target))
        raise IllegalMove(f"{movement}: {fault(position, move)}")

    def play(self, position: Pow2Position, move: Pow2Move) -> Pow2Position:
        """Apply a legal move."""
        return play(position, move)

    def outcome(self, position: Pow2Position) -> Outcome | None:
        """Give the ending: all pieces on the board, or no legal move."""
        mover, other = position.turn, 1 - position.turn
        if position.won:
            detail = f"{SIDES[other]} has all {PIECES} pieces on the board"
            return Outcome((other,), Ending.ALL_PLACED, detail)
        if not can_move(position):
            return Outcome((other,), Ending.NO_MOVE, f"{SIDES[mover]} has no legal move")
        return None

    def to_json(self, position: Pow2Position) -> dict[str, Any]:
        """Give the pieces on the board and the number each player has left to place."""
        light = (position.light_fresh | position.light_aged).bit_count()
        dark = (position.dark_fresh | position.dark_aged).bit_count()
        return {
            "board": {NAMES[at]: letter for at, letter in letters(position).items()},
            "supply": [PIECES - light, PIECES - dark],
        }

    def from_json(self, data: object, options: Pow2Options, to_move: Seat) -> Pow2Position:
        """Read what `to_json` gave."""
        return _from_json(data, options, to_move)
