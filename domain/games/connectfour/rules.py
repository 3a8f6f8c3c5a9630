"""Four in a Row: the players drop discs into columns, and the first with four in a straight line wins.

1. The board has seven columns and six rows and stands upright. Black moves first.
2. A turn drops a disc into a column that is not full. It falls to the lowest empty square there.
3. Four discs of a player next to each other in a straight line, in any of the eight directions, win. More than four do,
   too.
4. If the board is full without such a line, it is a draw.

Notation: `d1`, the square in which the disc lands; a1 is at the lower left. The column alone, `d`, is read as well.
"""

from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.boards.grid import SquareGrid
from domain.boards.sets import bits
from domain.game.protocol import GameOutcome, NoOptions, Rules, Seat
from domain.games.connectfour.sentences import SAY
from domain.sentences import Text

GRID: Final = SquareGrid(7, 6, upward=True, wells=True)
BLACK, WHITE, NOBODY = 0, 1, 2
"""The seat to move; nobody once the match is over."""
LETTERS: Final = "xo"
"""The letters of each seat's discs in the JSON form."""
HEIGHT: Final = GRID.rows + 1
"""Places from a column to the next: one above each column is always empty, so that no line leaves the board."""
FORM: Final = SAY("form")
Place = int
"""Counted up the columns, from the lower left. A column alone is the complement (`~`) of its number."""
NAMES: Final = {
    HEIGHT * column + row: f"{letter}{row + 1}"
    for column, letter in enumerate(GRID.letters)
    for row in range(GRID.rows)
}
_INDEX: Final = {name: place for place, name in NAMES.items()}
COLUMNS: Final = tuple((1 << GRID.rows) - 1 << HEIGHT * column for column in range(GRID.columns))
"""The places of each column."""
ALL: Final = sum(COLUMNS)
_BOTTOM: Final = sum(1 << HEIGHT * column for column in range(GRID.columns))
STEPS: Final = (1, HEIGHT - 1, HEIGHT, HEIGHT + 1)
"""From a place to the next one of a line: up, and to the right in three directions."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    FOUR = "four"
    """A player has four in a row."""
    FULL = "full"
    """The board is full, and nobody has four in a row."""


class ConnectFourPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The discs of both players as sets of places, and the seat to move."""

    black: int
    white: int
    turn: Seat
    """`NOBODY` at the end."""

    @property
    def discs(self) -> tuple[int, int]:
        """The discs of the seat to move, and the other's."""
        return (self.white, self.black) if self.turn == WHITE else (self.black, self.white)

    @property
    def landings(self) -> int:
        """The places in which a disc can land."""
        return (self.black | self.white) + _BOTTOM & ALL


def four_of(discs: int) -> tuple[Place, Place] | None:
    """Return the ends of four in a row, the left or lower one first; None if there are none."""
    for step in STEPS:
        pairs = discs & discs >> step
        if fours := pairs & pairs >> 2 * step:
            first = next(bits(fours))
            return first, first + 3 * step
    return None


class ConnectFourRules(Rules[ConnectFourPosition, Place, NoOptions]):
    """Four in a Row, version 1."""

    key = "connectfour"
    title = "Four in a Row"
    sides = (SAY("side", seat=BLACK), SAY("side", seat=WHITE))
    displays = ("large",)
    has_one_spelling: bool = False
    position_type = ConnectFourPosition

    def start(self, options: NoOptions, players: int, setup: object | None) -> ConnectFourPosition:
        """Return the empty board."""
        del options
        self.check_start(players, setup)
        return ConnectFourPosition(0, 0, BLACK)

    def to_move(self, position: ConnectFourPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.turn == NOBODY else position.turn

    def moves(self, position: ConnectFourPosition) -> list[Place]:
        """Return the places in which a disc can land, from left to right."""
        return [] if position.turn == NOBODY else list(bits(position.landings))

    def play(self, position: ConnectFourPosition, move: Place) -> ConnectFourPosition:
        """Drop a disc, and look whether that is the end."""
        own, other = position.discs
        own |= 1 << move
        mover = position.turn
        over = own | other == ALL or four_of(own) is not None
        black, white = (own, other) if mover == BLACK else (other, own)
        return ConnectFourPosition(black, white, NOBODY if over else 1 - mover)

    def read(self, text: str) -> Place:
        """Read the name of a square, or of a column."""
        column = text.strip().lower()
        if len(column) == 1 and column in GRID.letters:
            return ~GRID.letters.index(column)
        return _INDEX[GRID.names[GRID.read(text, FORM)[0]]]

    def write(self, move: Place) -> str:
        """Return the name of the square, or of the column."""
        return GRID.letters[~move] if move < 0 else NAMES[move]

    def check(self, position: ConnectFourPosition, move: Place) -> Place:
        """Return where the disc lands; raises `IllegalMove` if that is not where it is said to."""
        legal = super().check(position, move)
        return next(bits(position.landings & COLUMNS[~legal])) if legal < 0 else legal

    def why_illegal(self, position: ConnectFourPosition, move: Place) -> Text | None:
        """Return why no disc can land there; None for a legal move."""
        if position.turn == NOBODY:
            return SAY("over")
        column = ~move if move < 0 else move // HEIGHT
        landing = position.landings & COLUMNS[column]
        if not landing:
            return SAY("full", column=GRID.letters[column])
        if move >= 0 and landing != 1 << move:
            return SAY("elsewhere", at=NAMES[next(bits(landing))])
        return None

    def outcome(self, position: ConnectFourPosition) -> GameOutcome | None:
        """Return the ending: four in a row, or a full board."""
        if position.turn != NOBODY:
            return None
        for winner, discs in enumerate((position.black, position.white)):
            if ends := four_of(discs):
                first, last = (NAMES[at] for at in ends)
                said = SAY("four", winner=winner, first=first, last=last)
                return GameOutcome((winner,), Ending.FOUR, said)
        return GameOutcome((BLACK, WHITE), Ending.FULL, SAY("draw"))

    def to_json(self, position: ConnectFourPosition) -> dict[str, Any]:
        """Return the discs by square: x is Black's, o is White's."""
        discs = bits(position.black | position.white)
        return {"board": {NAMES[at]: LETTERS[position.white >> at & 1] for at in discs}}
