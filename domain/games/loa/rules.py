"""Lines of Action: the players move pieces along lines, and the first whose pieces are all connected wins.

1. The board has 8 x 8 squares. Black has 12 pieces on b1 to g1 and b8 to g8, White 12 on a2 to a7 and h2 to h7. Black
   moves first.
2. A piece moves in a straight line, in any of the eight directions, by exactly as many squares as there are pieces of
   both players on that line, before it and behind it and itself included.
3. It may jump over pieces of its own player, and not over opposing ones. It ends on an empty square, or on an opposing
   piece, which is captured.
4. A player whose pieces are all connected, at their sides or corners, wins; a single piece is connected. If a move
   connects the pieces of both players, it is a draw.
5. A player who can't move is passed by. If neither can, it is a draw.

Notation: `b1-b3`, from where to where, captures as well; a1 is at the lower left.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.boards.grid import Place, SquareGrid
from domain.boards.sets import bits, union_over
from domain.game.protocol import GameOutcome, NoOptions, Rules, Seat
from domain.games.loa.sentences import SAY
from domain.sentences import Text

GRID: Final = SquareGrid(8, 8, upward=True)
BLACK, WHITE, NOBODY = 0, 1, 2
"""The seat to move; nobody once the match is over."""
LETTERS: Final = "xo"
"""The letters of each seat's pieces in the JSON form."""
FORM: Final = SAY("form")
Move = tuple[Place, Place]
"""From where to where."""
Way = tuple[tuple[Place, int], ...]
"""By the number of squares from a place, less one: where that leads, and the set of places between."""

_OPPOSITE: Final = ((0, 2), (1, 3), (4, 6), (5, 7))
"""The directions of the rays that make a line."""
_near: Final = union_over([sum(1 << at for at in around) for around in GRID.around])


def _set(places: tuple[Place, ...]) -> int:
    return sum(1 << at for at in places)


def _way(ray: tuple[Place, ...]) -> Way:
    return tuple((end, _set(ray[:number])) for number, end in enumerate(ray))


_LINES: Final = tuple(
    tuple(
        (1 << at | _set(rays[one] + rays[other]), (_way(rays[one]), _way(rays[other])))
        for one, other in _OPPOSITE
    )
    for at, rays in enumerate(GRID.rays)
)
"""For each place its four lines: all of its places, and the ways along it."""


class Ending(StrEnum):
    """Why a match is over by the rules."""

    CONNECTED = "connected"
    """All pieces of a player are connected."""
    BOTH_CONNECTED = "both-connected"
    """The last move has connected the pieces of both players."""
    STUCK = "stuck"
    """Neither player can move."""


class LoaPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The pieces of both players as sets of squares, and the seat to move."""

    black: int
    white: int
    turn: Seat
    """A seat that can move, because passes are automatic; `NOBODY` at the end."""

    @property
    def pieces(self) -> tuple[int, int]:
        """The pieces of the seat to move, and the other's."""
        return (self.white, self.black) if self.turn == WHITE else (self.black, self.white)


def _squares(columns: str, rows: str) -> int:
    return sum(1 << GRID.index[column + row] for column in columns for row in rows)


START: Final = LoaPosition(_squares("bcdefg", "18"), _squares("ah", "234567"), BLACK)


def is_connected(pieces: int) -> bool:
    """Return whether pieces are connected at their sides or corners."""
    reached, new = 0, pieces & -pieces
    while new:
        reached |= new
        new = _near(new) & pieces & ~reached
    return reached == pieces


def ends(at: Place, own: int, other: int) -> Iterator[Place]:
    """Yield the squares to which a piece can move."""
    for line, ways in _LINES[at]:
        steps = (line & (own | other)).bit_count()
        for way in ways:
            if steps <= len(way):
                end, between = way[steps - 1]
                if not (between & other or own >> end & 1):
                    yield end


def can_move(own: int, other: int) -> bool:
    """Return whether a player has a move."""
    return any(True for at in bits(own) for _ in ends(at, own, other))


def _why_not_there(own: int, other: int, move: Move) -> Text | None:
    begin, end = move
    for line, ways in _LINES[begin]:
        if not line >> end & 1 or begin == end:
            continue
        way = next(way for way in ways if any(there == end for there, _ in way))
        steps = (line & (own | other)).bit_count()
        if steps > len(way) or way[steps - 1][0] != end:
            return SAY("steps", at=GRID.names[begin], squares=steps)
        if own >> end & 1:
            return SAY("own", at=GRID.names[end])
        in_between = way[steps - 1][1] & other
        return SAY("jump", at=GRID.names[next(bits(in_between))]) if in_between else None
    return SAY("no-line")


class LoaRules(Rules[LoaPosition, Move, NoOptions]):
    """Lines of Action, version 1."""

    key = "loa"
    title = "Lines of Action"
    sides = (SAY("side", seat=BLACK), SAY("side", seat=WHITE))
    displays = ("large",)
    position_type = LoaPosition

    def start(self, options: NoOptions, players: int, setup: object | None) -> LoaPosition:
        """Return the pieces along the edges."""
        del options
        self.check_start(players, setup)
        return START

    def to_move(self, position: LoaPosition) -> Seat | None:
        """Return the seat that can move next; a player who can't is passed by."""
        return None if position.turn == NOBODY else position.turn

    def moves(self, position: LoaPosition) -> list[Move]:
        """Return the moves by their first square, in reading order."""
        if position.turn == NOBODY:
            return []
        own, other = position.pieces
        return [(at, end) for at in bits(own) for end in ends(at, own, other)]

    def play(self, position: LoaPosition, move: Move) -> LoaPosition:
        """Move a piece, capture what it meets, look whether all are connected, and pass a player who can't move."""
        own, other = position.pieces
        begin, end = move
        own, other = own ^ 1 << begin | 1 << end, other & ~(1 << end)
        mover = turn = position.turn
        if is_connected(own) or is_connected(other):
            turn = NOBODY
        elif can_move(other, own):
            turn = 1 - mover
        elif not can_move(own, other):
            turn = NOBODY
        black, white = (own, other) if mover == BLACK else (other, own)
        return LoaPosition(black, white, turn)

    def read(self, text: str) -> Move:
        """Read the names of two squares."""
        begin, end = GRID.read(text, FORM, 2)
        return begin, end

    def write(self, move: Move) -> str:
        """Return the names of both squares."""
        return "-".join(GRID.names[at] for at in move)

    def why_illegal(self, position: LoaPosition, move: Move) -> Text | None:
        """Return which rule a move breaks; None for a legal move."""
        if position.turn == NOBODY:
            return SAY("over")
        own, other = position.pieces
        if not own >> move[0] & 1:
            return SAY("not-yours", piece=position.turn, at=GRID.names[move[0]])
        return _why_not_there(own, other, move)

    def outcome(self, position: LoaPosition) -> GameOutcome | None:
        """Return the ending: pieces are connected, or nobody can move."""
        if position.turn != NOBODY:
            return None
        both = (BLACK, WHITE)
        pieces = position.black, position.white
        winners = tuple(seat for seat in both if is_connected(pieces[seat]))
        if not winners:
            return GameOutcome(both, Ending.STUCK, SAY("stuck"))
        if winners == both:
            return GameOutcome(both, Ending.BOTH_CONNECTED, SAY("both-connected"))
        return GameOutcome(winners, Ending.CONNECTED, SAY("connected", winner=winners[0]))

    def to_json(self, position: LoaPosition) -> dict[str, Any]:
        """Return the pieces by square: x is Black's, o is White's."""
        pieces = bits(position.black | position.white)
        return {"board": {GRID.names[at]: LETTERS[position.white >> at & 1] for at in pieces}}
