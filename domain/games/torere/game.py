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
from enum import StrEnum
from typing import Any, Final

from domain.game.protocol import GameOutcome, NoOptions, Rules, Seat, unreadable_move
from domain.games.torere.illegal import why_illegal
from domain.games.torere.position import (
    PLACES,
    SIDES,
    START,
    TorereMove,
    TorerePosition,
    movable,
    moves,
    places,
    play,
)
from domain.games.torere.sentences import SAY
from domain.sentences import Text

FORM: Final = SAY("form")

_NOTATION: Final = re.compile("([0-8])-([0-8])")


class Ending(StrEnum):
    """Why a match is over by the rules."""

    NO_MOVE = "no-move"
    """The player to move can't move a stone, and loses."""


class TorereRules(Rules[TorerePosition, TorereMove, NoOptions]):
    """Mū tōrere, version 1."""

    key = "torere"
    title = "Mū tōrere"
    sides: tuple[str, ...] = SIDES
    displays: tuple[str, ...] = ("large",)
    position_type = TorerePosition
    moves = staticmethod(moves)
    play = staticmethod(play)
    why_illegal = staticmethod(why_illegal)

    def side_text(self, seat: Seat) -> Text:
        """Return the name of a side, in the language of the reader."""
        return SAY("side", seat=seat)

    def start(self, options: NoOptions, players: int, setup: object | None) -> TorerePosition:
        """Return the first position, with the putahi empty."""
        del options
        self.check_start(players, setup)
        return START

    def to_move(self, position: TorerePosition) -> Seat | None:
        """Return the seat to move; None if it can't move."""
        return position.turn if movable(position) else None

    def count_moves(self, position: TorerePosition) -> int:
        """Count the stones that can move, because there is only one empty place."""
        return movable(position).bit_count()

    def read(self, text: str) -> TorereMove:
        """Read two places with a hyphen between them."""
        found = _NOTATION.fullmatch("".join(text.split()))
        if not found:
            raise unreadable_move(text, FORM)
        return int(found[1]), int(found[2])

    def write(self, move: TorereMove) -> str:
        """Return the two places."""
        return f"{move[0]}-{move[1]}"

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
