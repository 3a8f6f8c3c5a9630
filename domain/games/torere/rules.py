"""Mū tōrere: the players move stones to the only empty place until one of them can't move.

1. Eight kewai (1 to 8) lie on a circle, the putahi (0) in its middle, joined to all of them.
   Light begins with stones on 1 to 4, Dark with stones on 5 to 8; Light moves first.
2. A move takes one of the player's stones to the empty place: from a kewai to a neighbouring one,
3. from the putahi to any kewai,
4. or from a kewai to the putahi, if at least one of its neighbours holds an opposing stone.
5. A player who can't move loses. Nothing is captured, and nobody passes.

Notation: `4-0`, from where to where.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.game.protocol import GameOutcome, NoOptions, Rules, Seat, unreadable_move
from domain.games.torere.sentences import SAY
from domain.sentences import Text

STONES: Final = 4
"""The stones of each player."""
PLACES: Final = "012345678"
_EVERYWHERE: Final = 0b111111111
_PUTAHI: Final = 0b000000001
_KEWAI: Final = _EVERYWHERE & ~_PUTAHI
TorereMove = tuple[int, int]
"""From where to where: the putahi is 0, the kewai are 1 to 8."""
_NOTATION: Final = re.compile("([0-8])-([0-8])")
FORM: Final = SAY("form")


class Ending(StrEnum):
    """Why a match is over by the rules."""

    NO_MOVE = "no-move"
    """The player to move can't move a stone, and loses."""


class TorerePosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones as sets of places, bit 0 for the putahi, and the seat to move."""

    light: int
    dark: int
    turn: Seat

    @property
    def empty(self) -> int:
        """The only empty place."""
        return (_EVERYWHERE & ~(self.light | self.dark)).bit_length() - 1


START: Final = TorerePosition(0b000011110, 0b111100000, 0)


def beside(places: int) -> int:
    """Return the kewai that neighbour one of these kewai."""
    return (places << 1 | places >> 7 | places >> 1 | places << 7) & _KEWAI


_NEAR: Final = {1 << at: beside(1 << at) | _PUTAHI if at else _KEWAI for at in range(len(PLACES))}
"""For each empty place, as a set of one: the places from which a line leads to it."""


def movable(position: TorerePosition) -> int:
    """Return the stones that the player to move can move, as a set of places."""
    light, dark, turn = position.light, position.dark, position.turn
    own, opposing = (dark, light) if turn else (light, dark)
    empty = _EVERYWHERE & ~(light | dark)
    if empty == _PUTAHI:
        return own & beside(opposing)
    return own & _NEAR[empty]


def places(of: int) -> Iterator[int]:
    """Yield the places of a set in order."""
    return (at for at in range(len(PLACES)) if of >> at & 1)


class TorereRules(Rules[TorerePosition, TorereMove, NoOptions]):
    """Mū tōrere, version 1."""

    key = "torere"
    title = "Mū tōrere"
    sides: tuple[Text, ...] = (SAY("side", seat=0), SAY("side", seat=1))
    displays: tuple[str, ...] = ("large",)
    position_type = TorerePosition

    def start(self, options: NoOptions, players: int, setup: object | None) -> TorerePosition:
        """Return the first position, with the putahi empty."""
        del options
        self.check_start(players, setup)
        return START

    def to_move(self, position: TorerePosition) -> Seat | None:
        """Return the seat to move; None if it can't move."""
        return position.turn if movable(position) else None

    def moves(self, position: TorerePosition) -> list[TorereMove]:
        """Return every legal move, in the order of the places moved from."""
        end = position.empty
        return [(start, end) for start in places(movable(position))]

    def count_moves(self, position: TorerePosition) -> int:
        """Count the stones that can move, because there is only one empty place."""
        return movable(position).bit_count()

    def play(self, position: TorerePosition, move: TorereMove) -> TorerePosition:
        """Move the stone."""
        moved = 1 << move[0] | 1 << move[1]
        if position.turn:
            return TorerePosition(position.light, position.dark ^ moved, 0)
        return TorerePosition(position.light ^ moved, position.dark, 1)

    def read(self, text: str) -> TorereMove:
        """Read two places with a hyphen between them."""
        found = _NOTATION.fullmatch("".join(text.split()))
        if not found:
            raise unreadable_move(text, FORM)
        return int(found[1]), int(found[2])

    def write(self, move: TorereMove) -> str:
        """Return the two places."""
        return f"{move[0]}-{move[1]}"

    def why_illegal(  # noqa: PLR0911 - one sentence a rule
        self, position: TorerePosition, move: TorereMove
    ) -> Text | None:
        """Return which rule a move breaks, and where; None for a legal move."""
        (start, end), empty = move, position.empty
        other = 1 - position.turn
        if end == empty and movable(position) >> start & 1:
            return None
        if not movable(position):
            return SAY("over", mover=position.turn)
        if start == empty:
            return SAY("empty", start=start)
        if (position.light if position.turn else position.dark) >> start & 1:
            return SAY("owner", start=start, other=other)
        if end != empty:
            return SAY("taken", end=end, stone=position.dark >> end & 1)
        if end:
            return SAY("circle", start=start, end=end)
        left, right = places(beside(1 << start))
        return SAY("putahi", left=left, right=right, start=start, other=other)

    def outcome(self, position: TorerePosition) -> GameOutcome | None:
        """Return the ending: the player to move can't move."""
        if movable(position):
            return None
        winner = 1 - position.turn
        said = SAY("no-move", mover=position.turn, winner=winner)
        return GameOutcome((winner,), Ending.NO_MOVE, said)

    def to_json(self, position: TorerePosition) -> dict[str, Any]:
        """Return the stones by place: o is Light's, x is Dark's."""
        light, dark = position.light, position.dark
        board = {PLACES[at]: "o" if light >> at & 1 else "x" for at in places(light | dark)}
        return {"board": board}
