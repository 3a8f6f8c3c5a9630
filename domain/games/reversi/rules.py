"""Reversi: the players place discs that turn over the opponent's between them and another of their own.

1. The board has 8 x 8 squares. At the start White has d4 and e5, Black e4 and d5; Black moves first.
2. A disc goes on an empty square from which at least one straight line, in any of eight directions, has one or more of
   the opponent's discs and then one of the player's. All discs enclosed like this are turned over.
3. A player who can turn over nothing is passed by. When neither player can, the match is over.
4. More discs win; with equal numbers it is a draw.

Notation: `d3`, the square of the disc; a1 is at the upper left.
"""

from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.boards.grid import Place, SquareGrid
from domain.boards.sets import bits, union_over
from domain.game.protocol import GameOutcome, NoOptions, Rules, Seat
from domain.games.reversi.sentences import SAY
from domain.sentences import Text

GRID: Final = SquareGrid(8, 8)
BLACK, WHITE, NOBODY = 0, 1, 2
"""The seat to move; nobody once the match is over."""
ALL: Final = (1 << len(GRID.names)) - 1
FORM: Final = SAY("form")
LETTERS: Final = "xo"
"""The letters of each seat's discs in the JSON form."""

near: Final = union_over([sum(1 << at for at in around) for around in GRID.around])
"""Returns the squares at the sides and corners of a set of squares."""
_RAYS: Final = tuple(
    tuple(tuple(1 << at for at in ray) for ray in rays if len(ray) > 1) for rays in GRID.rays
)
"""For each square the lines from it that can enclose a disc, each square as a set of one."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    MORE_DISCS = "more-discs"
    """Nobody can move, and one player has more discs."""
    EQUAL = "equal"
    """Nobody can move, and both players have as many discs."""


class ReversiPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The discs of both players as sets of squares, and the seat to move."""

    black: int
    white: int
    turn: Seat
    """A seat that can move, because passes are automatic; `NOBODY` at the end."""

    @property
    def discs(self) -> tuple[int, int]:
        """The discs of the seat to move, and the other's."""
        return (self.white, self.black) if self.turn == WHITE else (self.black, self.white)


def _squares(*names: str) -> int:
    return sum(1 << GRID.index[name] for name in names)


START: Final = ReversiPosition(_squares("e4", "d5"), _squares("d4", "e5"), BLACK)


def turned_over(place: Place, own: int, other: int) -> int:
    """Return the discs of `other` that a disc on an empty square turns over."""
    found = 0
    for ray in _RAYS[place]:
        if not ray[0] & other:
            continue
        between = 0
        for square in ray:
            if square & other:
                between |= square
                continue
            if square & own:
                found |= between
            break
    return found


def can_move(own: int, other: int) -> bool:
    """Return whether a player has a move."""
    empty = ALL & ~(own | other)
    return any(turned_over(at, own, other) for at in bits(empty & near(other)))


class ReversiRules(Rules[ReversiPosition, Place, NoOptions]):
    """Reversi, version 1."""

    key = "reversi"
    title = "Reversi"
    sides = (SAY("side", seat=BLACK), SAY("side", seat=WHITE))
    displays = ("large",)
    position_type = ReversiPosition

    def start(self, options: NoOptions, players: int, setup: object | None) -> ReversiPosition:
        """Return the four discs in the middle."""
        del options
        self.check_start(players, setup)
        return START

    def to_move(self, position: ReversiPosition) -> Seat | None:
        """Return the seat that can move next; a player who can't is passed by."""
        return None if position.turn == NOBODY else position.turn

    def moves(self, position: ReversiPosition) -> list[Place]:
        """Return the squares on which a disc turns over another, in reading order."""
        if position.turn == NOBODY:
            return []
        own, other = position.discs
        empty = ALL & ~(own | other)
        return [at for at in bits(empty & near(other)) if turned_over(at, own, other)]

    def play(self, position: ReversiPosition, move: Place) -> ReversiPosition:
        """Place a disc, turn over those enclosed, and pass a player who can't move."""
        own, other = position.discs
        turned = turned_over(move, own, other)
        own, other = own | turned | 1 << move, other ^ turned
        mover, turn = position.turn, 1 - position.turn
        if not can_move(other, own):
            turn = mover if can_move(own, other) else NOBODY
        black, white = (own, other) if mover == BLACK else (other, own)
        return ReversiPosition(black, white, turn)

    def read(self, text: str) -> Place:
        """Read the name of a square."""
        return GRID.read(text, FORM)[0]

    def write(self, move: Place) -> str:
        """Return the name of the square."""
        return GRID.names[move]

    def why_illegal(self, position: ReversiPosition, move: Place) -> Text | None:
        """Return why no disc can be placed there; None for a legal move."""
        if position.turn == NOBODY:
            return SAY("over")
        own, other = position.discs
        if (own | other) >> move & 1:
            return SAY("taken", disc=position.white >> move & 1)
        if not turned_over(move, own, other):
            return SAY("nothing", other=1 - position.turn)
        return None

    def outcome(self, position: ReversiPosition) -> GameOutcome | None:
        """Return the ending: neither player can move, and the discs are counted."""
        if position.turn != NOBODY:
            return None
        black, white = position.black.bit_count(), position.white.bit_count()
        if black == white:
            return GameOutcome((BLACK, WHITE), Ending.EQUAL, SAY("equal", discs=black))
        winner = BLACK if black > white else WHITE
        more, fewer = max(black, white), min(black, white)
        said = SAY("more-discs", winner=winner, more=more, other=1 - winner, fewer=fewer)
        return GameOutcome((winner,), Ending.MORE_DISCS, said)

    def to_json(self, position: ReversiPosition) -> dict[str, Any]:
        """Return the discs by square: x is Black's, o is White's."""
        discs = bits(position.black | position.white)
        return {"board": {GRID.names[at]: LETTERS[position.white >> at & 1] for at in discs}}
