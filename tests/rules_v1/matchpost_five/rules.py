"""Five Together: the players place stones, and the first to connect five of them wins.

1. Black moves first. A turn places one stone on an empty place of the board.
2. A player wins with five stones that are connected: each is beside another of them.
3. A full board without that is a draw.

Notation: `c3`, the place of the stone.
"""

from enum import StrEnum
from typing import Any

import msgspec

from domain.boards.plain import Place, squares
from domain.game.protocol import GameOutcome, NoOptions, Rules, Seat

BOARD = squares(6, 6)
LETTERS = "xo"
"""The letters of each seat's stones."""
CONNECTED = 5
FORM = "a move is written as one place, such as c3"


class Ending(StrEnum):
    """Why a match is over. Reasons are recorded: never rename one."""

    CONNECTED = "connected"
    FULL = "full"


class FivePosition(msgspec.Struct, frozen=True, array_like=True):
    """The stones of both players in the order of the moves; small, because a server keeps it for each match."""

    stones: bytes
    """The place of each stone: the first is Black's, the second White's, and so on."""

    @property
    def turn(self) -> Seat:
        """The seat whose turn it would be."""
        return len(self.stones) % 2

    def of(self, seat: Seat) -> int:
        """Return the set of a player's stones, as an int with those bits set."""
        return sum(1 << place for place in self.stones[seat::2])


class FiveRules(Rules[FivePosition, Place, NoOptions]):
    """Five Together, version 1. A change of the rules is a class with a higher version, beside this one."""

    key = "five"
    title = "Five Together"
    sides = ("Black", "White")
    displays = ("large",)
    position_type = FivePosition

    def start(self, options: NoOptions, players: int, setup: object | None) -> FivePosition:
        """Return the empty board."""
        self.check_start(players, setup)
        return FivePosition(b"")

    def to_move(self, position: FivePosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if self.outcome(position) else position.turn

    def moves(self, position: FivePosition) -> list[Place]:
        """Return every legal move: each empty place, while the match goes on."""
        if self.outcome(position):
            return []
        return [place for place in range(len(BOARD.names)) if place not in position.stones]

    def read(self, text: str) -> Place:
        """Read a move, in any position."""
        return BOARD.read(text, FORM)[0]

    def write(self, move: Place) -> str:
        """Return the move as it is recorded."""
        return BOARD.names[move]

    def why_illegal(self, position: FivePosition, move: Place) -> str | None:
        """Return which rule a move breaks, in words for the player; None for a legal move."""
        if outcome := self.outcome(position):
            return f"the match is over: {outcome.detail}"
        return "a stone is already there" if move in position.stones else None

    def play(self, position: FivePosition, move: Place) -> FivePosition:
        """Return the position after a legal move."""
        return FivePosition(position.stones + bytes([move]))

    def outcome(self, position: FivePosition) -> GameOutcome | None:
        """Return how the match ended; None while it goes on."""
        if not position.stones:
            return None
        last, seat = position.stones[-1], 1 - position.turn
        if BOARD.connected(last, position.of(seat)).bit_count() >= CONNECTED:
            return GameOutcome((seat,), Ending.CONNECTED, f"{self.sides[seat]} has connected five")
        if len(position.stones) == len(BOARD.names):
            return GameOutcome((0, 1), Ending.FULL, "the board is full")
        return None

    def to_json(self, position: FivePosition) -> dict[str, Any]:
        """Return the position as drawings and programs see it: the letters of stones by their places."""
        return {
            "board": {
                BOARD.names[place]: LETTERS[number % 2]
                for number, place in enumerate(position.stones)
            }
        }
