"""Hex: the players place stones, and connect two opposite sides of a rhombus of hexagons.

1. The board is a rhombus of 11 x 11 hexagons, or of another size from 4 to 14. Black moves first.
2. A turn places one stone on an empty hexagon. Stones never move and are never taken.
3. Instead of a first move of their own, White may swap: the black stone goes, and a white one stands at the place
   mirrored in the long diagonal, so that c2 becomes b3. It is as if the players had changed sides.
4. Black wins by connecting the top and the bottom with black stones, White by connecting the left and the right.
   One of them always does, and never both.

Notation: `f6`, the place of the stone; a1 is at the upper left. `swap`.
"""

import re
from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec

from domain.boards.rhombus import (
    INDEX,
    MOST,
    NAMES,
    Place,
    all_places,
    beside,
    column_and_row,
    place_of,
    sides_of,
)
from domain.boards.sets import bits
from domain.game.protocol import GameOutcome, Rules, Seat, unreadable_move
from domain.games.hex.sentences import SAY
from domain.sentences import Text

BLACK, WHITE = 0, 1
FEWEST: Final = 4
"""The fewest rows and columns of a board."""
LETTERS: Final = "xo"
"""The letters of each seat's stones in the JSON form."""
SWAP: Final = -1
"""The move that takes over Black's first stone."""
_WON: Final = 2
"""At the end `turn` is the seat of the winner plus this."""
_FORM: Final = SAY("form")
_BYTES: Final = 28
"""In a set of places of the largest board."""
_NOTATION: Final = re.compile(r"\s*([a-z])\s*([1-9][0-9]?)\s*", re.ASCII | re.IGNORECASE)


class HexOptions(msgspec.Struct, frozen=True):
    """The options of Hex."""

    size: Annotated[int, msgspec.Meta(ge=FEWEST, le=MOST)] = 11
    """The rows and columns of the board."""
    noswap: bool = False
    """Whether White can't take over Black's first move."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    CONNECTED = "connected"
    """A player's stones connect that player's sides."""


class HexPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones of both players as sets of places, little-endian, and whose turn it is."""

    size: int
    black: bytes
    white: bytes
    turn: int
    """The seat to move; at the end the winner's plus 2."""
    swap: bool
    """Whether White may swap in reply to the only stone, or could if there were one."""

    @property
    def stones(self) -> tuple[int, int]:
        """The places of Black's and of White's stones."""
        return int.from_bytes(self.black, "little"), int.from_bytes(self.white, "little")

    @property
    def winner(self) -> Seat | None:
        """The player who has connected both sides; None while the match goes on."""
        return self.turn - _WON if self.turn >= _WON else None

    @property
    def can_swap(self) -> bool:
        """Whether it is White's turn to answer the first move, and swapping is allowed."""
        return self.swap and self.turn == WHITE


def _packed(places: int) -> bytes:
    return places.to_bytes(_BYTES, "little").rstrip(b"\0")


def connects(size: int, stones: int, seat: Seat) -> bool:
    """Return whether stones connect the sides of a player."""
    above, below, left, right = sides_of(size)
    begin, end = (above, below) if seat == BLACK else (left, right)
    if not (stones & begin and stones & end):
        return False
    reached, new = 0, stones & begin
    while new:
        if new & end:
            return True
        reached |= new
        new = beside(new) & stones & ~reached
    return False


def mirrored(place: Place) -> Place:
    """Return a place mirrored in the long diagonal."""
    column, row = column_and_row(place)
    return place_of(row, column)


class HexRules(Rules[HexPosition, Place, HexOptions]):
    """Hex, version 1."""

    key = "hex"
    title = "Hex"
    sides = (SAY("side", seat=BLACK), SAY("side", seat=WHITE))
    displays = ("large",)
    options_type = HexOptions
    position_type = HexPosition

    def start(self, options: HexOptions, players: int, setup: object | None) -> HexPosition:
        """Return the empty board."""
        self.check_start(players, setup)
        return HexPosition(options.size, b"", b"", BLACK, not options.noswap)

    def to_move(self, position: HexPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.turn >= _WON else position.turn

    def moves(self, position: HexPosition) -> list[Place]:
        """Return the empty places in reading order, after them `swap`."""
        if position.turn >= _WON:
            return []
        black, white = position.stones
        places = list(bits(all_places(position.size) & ~(black | white)))
        return [*places, SWAP] if position.can_swap else places

    def count_moves(self, position: HexPosition) -> int:
        """Count the empty places, and `swap`."""
        if position.turn >= _WON:
            return 0
        black, white = position.stones
        return position.size**2 - (black | white).bit_count() + position.can_swap

    def play(self, position: HexPosition, move: Place) -> HexPosition:
        """Place a stone, or take over the only one, and look whether it connects."""
        size, turn = position.size, position.turn
        black, white = position.stones
        if move == SWAP:
            taken = 1 << mirrored(black.bit_length() - 1)
            return HexPosition(size, b"", _packed(taken), BLACK, swap=False)
        own = (white if turn else black) | 1 << move
        after = turn + _WON if connects(size, own, turn) else 1 - turn
        swap = position.swap and turn == BLACK
        if turn == BLACK:
            return HexPosition(size, _packed(own), position.white, after, swap)
        return HexPosition(size, position.black, _packed(own), after, swap)

    def read(self, text: str) -> Place:
        """Read the name of a place, or `swap`."""
        if text.strip().lower() == "swap":
            return SWAP
        found = _NOTATION.fullmatch(text)
        place = INDEX.get(f"{found[1].lower()}{found[2]}") if found else None
        if place is None:
            raise unreadable_move(text, _FORM)
        return place

    def write(self, move: Place) -> str:
        """Return the name of the place, or `swap`."""
        return "swap" if move == SWAP else NAMES[move]

    def why_illegal(self, position: HexPosition, move: Place) -> Text | None:
        """Return why no stone can be placed there; None for a legal move."""
        if position.winner is not None:
            return SAY("over", winner=position.winner)
        if move == SWAP:
            if position.can_swap:
                return None
            first = position.turn == WHITE and not position.white
            return SAY("swap-off") if first else SAY("no-swap")
        black, white = position.stones
        if not all_places(position.size) >> move & 1:
            return SAY("off-board", last=NAMES[place_of(position.size - 1, position.size - 1)])
        if (black | white) >> move & 1:
            return SAY("taken", stone=white >> move & 1)
        return None

    def outcome(self, position: HexPosition) -> GameOutcome | None:
        """Return the ending: a player has connected both sides."""
        winner = position.winner
        if winner is None:
            return None
        said = SAY("connected", winner=winner, sides=winner)
        return GameOutcome((winner,), Ending.CONNECTED, said)

    def to_json(self, position: HexPosition) -> dict[str, Any]:
        """Return the size and the stones by place: x is Black's, o is White's."""
        black, white = position.stones
        board = {NAMES[at]: LETTERS[white >> at & 1] for at in bits(black | white)}
        return {"size": position.size, "board": board}
