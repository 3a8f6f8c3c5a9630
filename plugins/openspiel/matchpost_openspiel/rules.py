"""The rules of any of OpenSpiel's games, by asking OpenSpiel.

A position is the actions that led to it, because OpenSpiel's states depend on their past: on repetitions, on a stone that
was just taken, on whose chain of jumps goes on. The actions are recorded in one or two bytes each.
"""

import re
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.game.protocol import (
    GameOutcome,
    NoOptions,
    Rules,
    Seat,
    illegal_move,
    unreadable_move,
)
from matchpost_openspiel.spiel import Spiel
from matchpost_openspiel.states import Reached, reached

_MOVE: Final = re.compile(r"[a-z0-9@-]{1,12}")
_OVER: Final = -1


class Ending(StrEnum):
    """Why a match is over. Reasons are recorded: never rename one."""

    WON = "won"
    """One of the players has won by OpenSpiel's rules."""
    DRAWN = "drawn"
    """Nobody has won, or OpenSpiel's limit of moves was reached."""


class SpielPosition(msgspec.Struct, frozen=True, array_like=True):
    """The actions since the start, and the seat to move, which lists of matches can show without OpenSpiel."""

    actions: bytes
    turn: int
    """-1 after the end."""


class SpielRules(Rules[SpielPosition, str, NoOptions]):
    """A game of OpenSpiel, in the version of OpenSpiel that is installed."""

    players = (2,)
    displays = ("large",)
    position_type = SpielPosition

    def __init__(self, spiel: Spiel, version: int) -> None:
        self.spiel: Final = spiel
        self.key = spiel.key
        self.title = f"{spiel.title} (OpenSpiel)"
        self.sides = spiel.sides
        self.version = version
        self.most_packed = spiel.longest * (2 if spiel.wide else 1) + 8

    def reached(self, position: SpielPosition) -> Reached:
        """Return OpenSpiel's state of a position."""
        return reached(self.spiel, position.actions)

    def start(self, options: NoOptions, players: int, setup: object | None) -> SpielPosition:
        """Return the first position."""
        del options
        self.check_start(players, setup)
        return SpielPosition(b"", 0)

    def to_move(self, position: SpielPosition) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return None if position.turn == _OVER else position.turn

    def moves(self, position: SpielPosition) -> list[str]:
        """Return every legal move, in OpenSpiel's order."""
        return [*self.reached(position).moves]

    def count_moves(self, position: SpielPosition) -> int:
        """Return the number of legal moves."""
        return 0 if position.turn == _OVER else len(self.reached(position).state.legal_actions())

    def read(self, text: str) -> str:
        """Read a move in any position; a move is its own text in lower case."""
        move = "".join(text.split()).lower()
        if not move.isascii() or not _MOVE.fullmatch(move):
            raise unreadable_move(text, f"a move is written such as {self.spiel.example}")
        return move

    def write(self, move: str) -> str:
        """Return the move as it is recorded."""
        return move

    def check(self, position: SpielPosition, move: str) -> str:
        """Return a legal move, or refuse it with one that is legal."""
        if outcome := self.outcome(position):
            raise illegal_move(move, f"the match is over: {outcome.detail}")
        legal = self.reached(position).moves
        if move not in legal:
            said = f"that is no legal move here; for example {next(iter(legal))} is one"
            raise illegal_move(move, said)
        return move

    def play(self, position: SpielPosition, move: str) -> SpielPosition:
        """Return the position after a legal move."""
        action = self.reached(position).moves[move]
        actions = position.actions + action.to_bytes(2 if self.spiel.wide else 1)
        return SpielPosition(actions, reached(self.spiel, actions).seat)

    def outcome(self, position: SpielPosition) -> GameOutcome | None:
        """Return how the match ended; None while it goes on."""
        if position.turn != _OVER:
            return None
        winners = self.reached(position).winners
        if len(winners) > 1:
            return GameOutcome(winners, Ending.DRAWN, "nobody has won")
        return GameOutcome(winners, Ending.WON, f"{self.sides[winners[0]]} has won")

    def asks(self, position: SpielPosition) -> str | None:
        """Return what pages ask for here, if it isn't what they always ask for."""
        here = self.reached(position)
        shown = f"{here.state} {here.first}"
        found = (asked for words, asked in self.spiel.asks if words in shown)
        return next(found, None) if position.turn != _OVER else None

    def to_json(self, position: SpielPosition) -> dict[str, Any]:
        """Return the board as OpenSpiel writes it, and what stands on its places."""
        text = self.reached(position).text
        return {"board": self.spiel.board.pieces(text), "text": text}
