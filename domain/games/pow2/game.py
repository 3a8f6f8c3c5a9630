"""The Power of Two: move a piece next to others, and bring in more pieces by triangles.

1. Move one of your pieces any distance along a line over empty intersections.
2. For each occupied neighbour of its destination, of either player, place a new piece on an empty
   intersection that forms a triangle with both. If not each can have its own, the move is illegal.
   With fewer pieces left than neighbours, place all of them (illegal with `-exact`).
3. If you placed any, the moved piece and your pieces among those neighbours age: fresh ones become
   aged, aged ones return to the supply.
4. A player who ends a turn with all 16 pieces on the board wins; a player who can't move loses.
5. With `-free` the players first place four pieces each, none next to another.

Notation: `m13-j7`, `a13-c11:a13,d10` (the new pieces, sorted), `c3` (placing with `-free`).
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from domain.boards.pow2_board import INDEX, NAMES, intersection
from domain.game.protocol import (
    GameOutcome,
    Rules,
    Seat,
    UnreadableMove,
    illegal_move,
    unreadable_move,
)
from domain.games.pow2.illegal import FORM, why_illegal
from domain.games.pow2.position import (
    HAND,
    PIECES,
    PLACING,
    SIDES,
    Pow2Move,
    Pow2Options,
    Pow2Position,
    Pow2Start,
    can_move,
    count_moves,
    flags_of,
    is_legal,
    letters,
    moves,
    play,
    write,
)
from domain.games.pow2.sentences import SAY
from domain.sentences import Text


class Ending(StrEnum):
    """Why a match is over by the rules."""

    ALL_PLACED = "all-placed"
    """A player ended a turn with all 16 pieces on the board, and wins."""
    NO_MOVE = "no-move"
    """The player to move has no legal move, and loses."""


_STARTS: Final[Mapping[Pow2Start, tuple[str, str]]] = {
    Pow2Start.CORNERS: ("m1 m13", "a1 a13"),
    Pow2Start.FAST: ("m1 i5 i9 m13", "a1 e5 e9 a13"),
    Pow2Start.MIDDLE: ("m7 g13", "g1 a7"),
    Pow2Start.FREE: ("", ""),
}


def _read(text: str) -> Pow2Move:
    movement, colon, places = "".join(text.split()).lower().partition(":")
    origin, hyphen, target = movement.partition("-")
    if not text.isascii() or (not hyphen and (colon or origin not in INDEX)):
        raise unreadable_move(text, FORM)
    if not hyphen:
        return Pow2Move(HAND, INDEX[origin])
    placed = 0
    for name in places.split(",") if colon else ():
        piece = 1 << intersection(name, FORM)
        if placed & piece:
            raise UnreadableMove(SAY("repeated", name=name, form=FORM))
        placed |= piece
    return Pow2Move(intersection(origin, FORM), intersection(target, FORM), placed)


class Pow2Rules(Rules[Pow2Position, Pow2Move, Pow2Options]):
    """The Power of Two, version 1."""

    key = "pow2"
    title = "The Power of Two"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("large", "small")
    position_type = Pow2Position
    options_type = Pow2Options
    moves = staticmethod(moves)
    count_moves = staticmethod(count_moves)
    read = staticmethod(_read)
    write = staticmethod(write)
    play = staticmethod(play)

    def side_text(self, seat: Seat) -> Text:
        """Return the name of a side, in the language of the reader."""
        return SAY("side", seat=seat)

    def start(self, options: Pow2Options, players: int, setup: object | None) -> Pow2Position:
        """Return the first position."""
        self.check_start(players, setup)
        light, dark = (
            sum(1 << INDEX[name] for name in names.split()) for names in _STARTS[options.start]
        )
        placing = PLACING if options.start is Pow2Start.FREE else 0
        return Pow2Position(light, 0, dark, 0, 0, flags_of(options) | placing)

    def to_move(self, position: Pow2Position) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.won or not can_move(position) else position.turn

    def legal_moves(self, position: Pow2Position) -> Iterator[str]:
        """Yield every legal move by origin, destination and placements, in sorting order."""
        return map(write, sorted(moves(position), key=lambda move: move.origin << 6 | move.target))

    def check(self, position: Pow2Position, move: Pow2Move) -> Pow2Move:
        """Return the move if it is legal, else refuse it by the rule that it breaks."""
        if is_legal(position, move):
            return move
        movement = write(Pow2Move(move.origin, move.target))
        raise illegal_move(movement, why_illegal(position, move))

    def outcome(self, position: Pow2Position) -> GameOutcome | None:
        """Return the ending: a player has all pieces on the board, or has no legal move."""
        mover, other = position.turn, 1 - position.turn
        if position.won:
            said = SAY("all-placed", winner=other, pieces=PIECES)
            return GameOutcome((other,), Ending.ALL_PLACED, said)
        if not can_move(position):
            return GameOutcome((other,), Ending.NO_MOVE, SAY("no-move", mover=mover))
        return None

    def to_json(self, position: Pow2Position) -> dict[str, Any]:
        """Return the pieces on the board and the number each player has left to place."""
        light = (position.light_fresh | position.light_aged).bit_count()
        dark = (position.dark_fresh | position.dark_aged).bit_count()
        return {
            "board": {NAMES[at]: letter for at, letter in letters(position).items()},
            "supply": [PIECES - light, PIECES - dark],
        }
