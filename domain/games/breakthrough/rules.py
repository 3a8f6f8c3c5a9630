"""Breakthrough: the players advance pieces, and the first to reach the far edge of the board wins.

1. The board has 8 x 8 squares, or 5 to 7 rows and columns. White's pieces fill the two rows nearest to White, below,
   and Black's the two rows nearest to Black, above. White moves first.
2. A move takes a piece one square forward, straight or diagonally, to an empty square.
3. A diagonal move may also go to a square with an opposing piece, which is captured. A straight one may not. Nobody has
   to capture.
4. A player whose piece reaches the farthest row wins, and so does one who captures the last opposing piece.
   There is always a move, so there are no draws.

Notation: `a2-a3`, from where to where, captures as well; a1 is at White's left.
"""

from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final

import msgspec

from domain.boards.grid import Place, SquareGrid
from domain.boards.sets import bits
from domain.game.protocol import GameOutcome, Rules, Seat
from domain.games.breakthrough.sentences import SAY
from domain.sentences import Text

FEWEST: Final = 5
MOST: Final = 8
"""The most rows and columns; places are those of this board, of which smaller ones are the lower left part."""
GRID: Final = SquareGrid(MOST, MOST, upward=True)
WHITE, BLACK = 0, 1
LETTERS: Final = "ox"
"""The letters of each seat's pieces in the JSON form."""
_WON: Final = 2
"""At the end `turn` is the seat of the winner plus this."""
FORM: Final = SAY("form")
_FIRST_COLUMN: Final = sum(1 << at for at in range(0, MOST * MOST, MOST))
_ROW: Final = (1 << MOST) - 1
_HIGHEST: Final = 1 << MOST * MOST
Move = tuple[Place, Place]
"""From where to where."""


class BreakthroughOptions(msgspec.Struct, frozen=True):
    """The options of Breakthrough."""

    size: Annotated[int, msgspec.Meta(ge=FEWEST, le=MOST)] = MOST
    """The rows and columns of the board."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    BROKE_THROUGH = "broke-through"
    """A player's piece is on the farthest row."""
    NO_PIECES = "no-pieces"
    """A player has captured all of the opponent's pieces."""


class BreakthroughPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The pieces of both players as sets of places, and whose turn it is."""

    size: int
    white: int
    black: int
    turn: int
    """The seat to move; at the end the winner's plus 2."""

    @property
    def winner(self) -> Seat | None:
        """The player who has won; None while the match goes on."""
        return self.turn - _WON if self.turn >= _WON else None

    @property
    def pieces(self) -> tuple[int, int]:
        """The pieces of the seat to move, and the other's."""
        return (self.black, self.white) if self.turn == BLACK else (self.white, self.black)


@cache
def row_of(size: int, row: int) -> int:
    """Return the places of a row, counted from 1, from below."""
    return (1 << size) - 1 << MOST * (MOST - row)


@cache
def all_places(size: int) -> int:
    """Return the places of a board."""
    return sum(row_of(size, row) for row in range(1, size + 1))


def forward(places: int, seat: Seat) -> int:
    """Return the places straight in front of a player's pieces, as the board of eight rows has them."""
    return places << MOST & _HIGHEST - 1 if seat == BLACK else places >> MOST


def beside(places: int) -> int:
    """Return the places to the left and to the right."""
    return places >> 1 & ~(_FIRST_COLUMN << MOST - 1) | places << 1 & ~_FIRST_COLUMN


def far_row(size: int, seat: Seat) -> int:
    """Return the places that a player's pieces have to reach."""
    return row_of(size, size if seat == WHITE else 1)


class BreakthroughRules(Rules[BreakthroughPosition, Move, BreakthroughOptions]):
    """Breakthrough, version 1."""

    key = "breakthrough"
    title = "Breakthrough"
    sides = (SAY("side", seat=WHITE), SAY("side", seat=BLACK))
    displays = ("large",)
    options_type = BreakthroughOptions
    position_type = BreakthroughPosition

    def start(
        self, options: BreakthroughOptions, players: int, setup: object | None
    ) -> BreakthroughPosition:
        """Return the two rows of each player."""
        self.check_start(players, setup)
        size = options.size
        white = row_of(size, 1) | row_of(size, 2)
        black = row_of(size, size) | row_of(size, size - 1)
        return BreakthroughPosition(size, white, black, WHITE)

    def to_move(self, position: BreakthroughPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.turn >= _WON else position.turn

    def moves(self, position: BreakthroughPosition) -> list[Move]:
        """Return the moves by their first place, in reading order, and then by their last."""
        if position.turn >= _WON:
            return []
        own, other = position.pieces
        ahead = all_places(position.size) & ~own
        straight = ahead & ~other
        found = []
        for at in bits(own):
            front = forward(1 << at, position.turn)
            ends = front & straight | beside(front) & ahead
            found += [(at, end) for end in bits(ends)]
        return found

    def play(self, position: BreakthroughPosition, move: Move) -> BreakthroughPosition:
        """Move a piece, capture what it meets, and look whether that wins."""
        own, other = position.pieces
        begin, end = move
        own, other = own ^ 1 << begin | 1 << end, other & ~(1 << end)
        size, turn = position.size, position.turn
        won = not other or far_row(size, turn) >> end & 1
        white, black = (other, own) if turn == BLACK else (own, other)
        return BreakthroughPosition(size, white, black, turn + _WON if won else 1 - turn)

    def read(self, text: str) -> Move:
        """Read the names of two squares."""
        begin, end = GRID.read(text, FORM, 2)
        return begin, end

    def write(self, move: Move) -> str:
        """Return the names of both squares."""
        return "-".join(GRID.names[at] for at in move)

    def why_illegal(self, position: BreakthroughPosition, move: Move) -> Text | None:
        """Return which rule a move breaks; None for a legal move."""
        if position.winner is not None:
            return SAY("over", winner=position.winner)
        own, other = position.pieces
        (begin, end), size, seat = move, position.size, position.turn
        if not own >> begin & 1:
            return SAY("not-yours", piece=seat, at=GRID.names[begin])
        if not all_places(size) >> end & 1:
            return SAY("off-board", last=f"{GRID.letters[size - 1]}{size}")
        front = forward(1 << begin, seat)
        if not (front | beside(front)) >> end & 1:
            return SAY("too-far")
        if own >> end & 1:
            return SAY("own", at=GRID.names[end])
        blocked = front & other
        return SAY("blocked", at=GRID.names[end]) if blocked >> end & 1 else None

    def outcome(self, position: BreakthroughPosition) -> GameOutcome | None:
        """Return the ending: a player has reached the farthest row, or captured all pieces."""
        winner = position.winner
        if winner is None:
            return None
        pieces = position.black if winner == BLACK else position.white
        there = pieces & far_row(position.size, winner)
        if there:
            at = GRID.names[there.bit_length() - 1]
            return GameOutcome(
                (winner,), Ending.BROKE_THROUGH, SAY("broke-through", winner=winner, at=at)
            )
        said = SAY("no-pieces", winner=winner, other=1 - winner)
        return GameOutcome((winner,), Ending.NO_PIECES, said)

    def to_json(self, position: BreakthroughPosition) -> dict[str, Any]:
        """Return the size and the pieces by square: o is White's, x is Black's."""
        pieces = bits(position.white | position.black)
        board = {GRID.names[at]: LETTERS[position.black >> at & 1] for at in pieces}
        return {"size": position.size, "board": board}
