"""Mū tōrere: one stone at a time goes to the only empty place, until somebody can't move.

1. Eight kewai (1 to 8) lie around a circle, the putahi (0) in its middle, joined to all of them.
   Light begins with stones on 1 to 4, Dark with stones on 5 to 8; Light moves first.
2. A move takes one own stone to the empty place: from a kewai to a neighbouring one,
3. from the putahi to any kewai,
4. or from a kewai to the putahi, if at least one of its neighbours holds an opposing stone.
5. Who can't move loses. Nothing is captured, and nobody passes.

Notation: `4-0`, from where to where.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final, Literal

import msgspec

from domain.errors import Code, Refusal
from domain.rules.defaults import RulesDefaults
from domain.rules.protocol import IllegalMove, Outcome, Seat, UnreadableMove

__all__ = ["Ending", "Torere", "TorereMove", "TorereOptions", "TorerePosition"]

SIDES: Final = ("Light", "Dark")
STONES: Final = 4
"""How many stones each player has."""
FORM: Final = "a move is written as two places from 0 to 8, such as 4-0"

TorereMove = tuple[int, int]
"""From where to where: the putahi is 0, the kewai are 1 to 8."""

_NOTATION: Final = re.compile("([0-8])-([0-8])")
_NAMES: Final = "012345678"
_EVERYWHERE: Final = 0b111111111
_PUTAHI: Final = 0b000000001
_KEWAI: Final = _EVERYWHERE & ~_PUTAHI


class TorereOptions(msgspec.Struct, frozen=True):
    """The options of a match: there are none."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    NO_MOVE = "no-move"
    """The player whose turn it is can't move any stone, and loses."""


class TorerePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones as sets of places, bit 0 for the putahi, and the seat whose turn it is."""

    light: int
    dark: int
    turn: Seat


def _beside(places: int) -> int:
    """Give the kewai that neighbour one of these kewai."""
    return (places << 1 | places >> 7 | places >> 1 | places << 7) & _KEWAI


_NEAR: Final = {1 << at: _beside(1 << at) | _PUTAHI if at else _KEWAI for at in range(len(_NAMES))}
"""By empty place, as a set of one: the places from which a line leads to it."""


def _movable(position: TorerePosition) -> int:
    """Give the stones that the player whose turn it is can move, as a set of places."""
    light, dark, turn = position.light, position.dark, position.turn
    own, opposing = (dark, light) if turn else (light, dark)
    empty = _EVERYWHERE & ~(light | dark)
    if empty == _PUTAHI:
        return own & _beside(opposing)
    return own & _NEAR[empty]


def _empty(position: TorerePosition) -> int:
    return (_EVERYWHERE & ~(position.light | position.dark)).bit_length() - 1


def _places(of: int) -> Iterator[int]:
    return (at for at in range(len(_NAMES)) if of >> at & 1)


def _fault(position: TorerePosition, move: TorereMove) -> str:
    """Say which rule forbids a move."""
    start, end = move
    own, other = SIDES[position.turn], SIDES[1 - position.turn]
    stones = (position.light, position.dark)
    if not _movable(position):
        return f"the match is over: {own} can't move"
    if start == _empty(position):
        return f"no stone stands on {start}"
    if stones[1 - position.turn] >> start & 1:
        return f"the stone on {start} is {other}'s"
    if end != _empty(position):
        return f"{end} is occupied by {'x' if position.dark >> end & 1 else 'o'}"
    if end:
        return f"{start} and {end} are not neighbours on the circle"
    left, right = _places(_beside(1 << start))
    return f"neither {left} nor {right}, beside {start}, holds a stone of {other}'s"


class _PositionJson(msgspec.Struct, forbid_unknown_fields=True):
    board: dict[str, Literal["o", "x"]]


def _bad(problem: str) -> Refusal:
    return Refusal(Code.BAD_SETUP, f"this is no position of torere: {problem}")


def _from_json(data: object, to_move: Seat) -> TorerePosition:
    try:
        given = msgspec.convert(data, _PositionJson)
    except msgspec.ValidationError as error:
        raise _bad(str(error)) from None
    boards = {"o": 0, "x": 0}  # in the order of SIDES
    for name, letter in given.board.items():
        if len(name) != 1 or name not in _NAMES:
            raise _bad(f"{name[:24]!r} is no place")
        boards[letter] |= 1 << int(name)
    for side, stones in zip(SIDES, boards.values(), strict=True):
        if stones.bit_count() != STONES:
            raise _bad(f"{side} has {stones.bit_count()} stones, not {STONES}")
    if to_move not in (0, 1):
        raise _bad(f"it can't be the turn of seat {to_move}")
    return TorerePosition(boards["o"], boards["x"], to_move)


class Torere(RulesDefaults):
    """Mū tōrere, version 1."""

    key = "torere"
    version = 1
    title = "Mū tōrere"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("large",)
    position_type = TorerePosition
    options_type = TorereOptions

    def start(self, options: TorereOptions, players: int, setup: object | None) -> TorerePosition:
        """Give the first position, the putahi empty; chance has no part in it."""
        del options
        if players not in self.players:
            raise Refusal(Code.BAD_PLAYERS, f"torere is played by two, not by {players}")
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, "torere has no setup that chance draws")
        return TorerePosition(0b000011110, 0b111100000, 0)

    def to_move(self, position: TorerePosition) -> Seat | None:
        """Give the seat whose turn it is, None when it can't move."""
        return position.turn if _movable(position) else None

    def moves(self, position: TorerePosition) -> list[TorereMove]:
        """Give every legal move, in the order of the places moved from."""
        end = _empty(position)
        return [(start, end) for start in _places(_movable(position))]

    def count_moves(self, position: TorerePosition) -> int:
        """Count the stones that can move; there is one empty place only."""
        return _movable(position).bit_count()

    def legal_moves(self, position: TorerePosition) -> Iterator[str]:
        """Yield every legal move, in the order of the places moved from."""
        return map(self.write, self.moves(position))

    def read(self, text: str) -> TorereMove:
        """Read two places and the hyphen between them."""
        found = _NOTATION.fullmatch("".join(text.split()))
        if not found:
            raise UnreadableMove(f"{text[:24]!r} is no move; {FORM}")
        return int(found[1]), int(found[2])

    def write(self, move: TorereMove) -> str:
        """Give the two places."""
        return f"{move[0]}-{move[1]}"

    def check(self, position: TorerePosition, move: TorereMove) -> TorereMove:
        """Give the move back if it is legal, else say which rule forbids it."""
        start, end = move
        if end == _empty(position) and _movable(position) >> start & 1:
            return move
        raise IllegalMove(f"{self.write(move)}: {_fault(position, move)}")

    def play(self, position: TorerePosition, move: TorereMove) -> TorerePosition:
        """Move the stone."""
        moved = 1 << move[0] | 1 << move[1]
        if position.turn:
            return TorerePosition(position.light, position.dark ^ moved, 0)
        return TorerePosition(position.light ^ moved, position.dark, 1)

    def outcome(self, position: TorerePosition) -> Outcome | None:
        """Give the ending: the player whose turn it is can't move."""
        if _movable(position):
            return None
        winner = 1 - position.turn
        detail = f"{SIDES[position.turn]} can't move: {SIDES[winner]} has won"
        return Outcome((winner,), Ending.NO_MOVE, detail)

    def to_json(self, position: TorerePosition) -> dict[str, Any]:
        """Give the stones by place: o is Light's, x is Dark's."""
        light, dark = position.light, position.dark
        board = {_NAMES[at]: "o" if light >> at & 1 else "x" for at in _places(light | dark)}
        return {"board": board}

    def from_json(self, data: object, options: TorereOptions, to_move: Seat) -> TorerePosition:
        """Read what `to_json` gave."""
        del options
        return _from_json(data, to_move)
