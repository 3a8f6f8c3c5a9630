"""Tic-tac-toe: three in a row.

1. X and O in turn mark an empty square of three by three.
2. A player with three marks in a row, a column or a diagonal wins; with `-misere` loses.
3. A full board without such a line is a draw.

Notation: `b2`, the square.
"""

from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.game.protocol import Rules
from domain.rules import GameOutcome, Seat, UnreadableMove

KEY: Final = "tictactoe"
SQUARES: Final = ("a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3")
SIDES: Final = ("X", "O")
_LINES: Final = (0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
_FULL: Final = 0o777


class TicTacToeOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    misere: bool = False


class TicTacToePosition(msgspec.Struct, frozen=True, array_like=True):
    """The marks of both players, as sets of squares, and whether `-misere` is in force."""

    x: int
    o: int
    misere: bool

    @property
    def turn(self) -> Seat:
        """The seat whose turn it is."""
        return self.x.bit_count() - self.o.bit_count()


class Ending(StrEnum):
    """Why a match is over by the rules."""

    LINE = "line"
    """A player has three in a row."""
    FULL = "full"
    """The board is full, and nobody has three in a row."""


class TicTacToe(Rules[TicTacToePosition, int, TicTacToeOptions]):
    """Tic-tac-toe, version 1."""

    key = KEY
    title = "Tic-tac-toe"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("large",)
    position_type = TicTacToePosition
    options_type = TicTacToeOptions

    def start(
        self, options: TicTacToeOptions, players: int, setup: object | None
    ) -> TicTacToePosition:
        """Return the empty board."""
        self.check_start(players, setup)
        return TicTacToePosition(0, 0, options.misere)

    def to_move(self, position: TicTacToePosition) -> Seat | None:
        """Return the seat to move, None when the match is over."""
        return None if self.outcome(position) else position.turn

    def moves(self, position: TicTacToePosition) -> list[int]:
        """Return every empty square, while the match goes on."""
        if self.outcome(position):
            return []
        return [at for at in range(len(SQUARES)) if not (position.x | position.o) >> at & 1]

    def read(self, text: str) -> int:
        """Read the name of a square."""
        name = "".join(text.split()).lower()
        if name not in SQUARES:
            raise UnreadableMove(f"{text[:24]!r} is no square; a move is written as one, as in b2")
        return SQUARES.index(name)

    def write(self, move: int) -> str:
        """Return the name of the square."""
        return SQUARES[move]

    def why_illegal(self, position: TicTacToePosition, move: int) -> str | None:
        """Return which rule a move breaks; None for a legal move."""
        if ended := self.outcome(position):
            return f"the match is over: {ended.detail}"
        if (position.x | position.o) >> move & 1:
            return f"it is occupied by {'x' if position.x >> move & 1 else 'o'}"
        return None

    def play(self, position: TicTacToePosition, move: int) -> TicTacToePosition:
        """Mark the square."""
        if position.turn:
            return TicTacToePosition(position.x, position.o | 1 << move, position.misere)
        return TicTacToePosition(position.x | 1 << move, position.o, position.misere)

    def outcome(self, position: TicTacToePosition) -> GameOutcome | None:
        """Return the ending: three in a row, or a full board."""
        for seat, marks in enumerate((position.x, position.o)):
            if any(marks & line == line for line in _LINES):
                winner = 1 - seat if position.misere else seat
                return GameOutcome((winner,), Ending.LINE, f"{SIDES[seat]} has three in a row")
        if position.x | position.o == _FULL:
            return GameOutcome((0, 1), Ending.FULL, "the board is full")
        return None

    def to_json(self, position: TicTacToePosition) -> dict[str, Any]:
        """Return the marks by square."""
        marks = {"x": position.x, "o": position.o}
        return {
            "board": {
                name: mark
                for at, name in enumerate(SQUARES)
                for mark, squares in marks.items()
                if squares >> at & 1
            }
        }
