"""What the puzzles share: one player, the move `done`, and an ending that tells the score."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from domain.boards.pow2_board import INDEX, NAMES, bits
from domain.errors import Code, Refusal
from domain.rules.protocol import Outcome, Score, Seat, WithoutChance

DONE: Final = "done"
"""The move that ends a match, in every puzzle."""
OVER: Final = "the match is over: the solver is done"


class Ending(StrEnum):
    """Why a puzzle is over by the rules; what counts is the score."""

    DONE = "done"
    """The solver said so."""
    NO_MOVE = "no-move"
    """Nothing can be set or jumped any more."""


class Puzzle(WithoutChance):
    """The parts of `Rules` that are alike in all puzzles."""

    key: str
    version = 1
    players: tuple[int, ...] = (1,)
    sides: tuple[str, ...] = ("Solver",)
    displays: tuple[str, ...] = ("large", "small")
    offers: tuple[str, ...] = ()

    def leave(self, position: Any, seat: Seat) -> Any:
        """Never asked: without its only player a match is over."""
        raise ValueError(f"seat {seat} left a puzzle that goes on: {position!r}")

    def check_offer(self, position: object, kind: str) -> None:
        """Never asked: there is nobody to offer anything."""
        raise ValueError(f"no offer {kind!r} in {position!r}")

    def agreed(self, position: object, kind: str) -> Outcome | None:
        """Never asked: there is nobody to agree."""
        raise ValueError(f"no offer {kind!r} in {position!r}")

    def check_start(self, players: int, setup: object | None) -> None:
        """Refuse another number of players, and a setup."""
        if players not in self.players:
            raise Refusal(Code.BAD_PLAYERS, f"{self.key} is solved by one, not by {players}")
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, f"{self.key} has no setup that chance draws")

    def bad(self, problem: str) -> Refusal:
        """Give the refusal of a JSON form that is no position of the puzzle."""
        return Refusal(Code.BAD_SETUP, f"this is no position of {self.key}: {problem}")

    def check_turn(self, to_move: Seat) -> None:
        """Refuse a position in which it would be somebody else's turn."""
        if to_move != 0:
            raise self.bad(f"it can't be the turn of seat {to_move}")

    def boards(self, pieces: Mapping[str, str], letters: str) -> dict[str, int]:
        """Give the sets of intersections by letter."""
        boards = dict.fromkeys(letters, 0)
        for name, letter in pieces.items():
            if name not in INDEX:
                raise self.bad(f"{name[:24]!r} is no intersection")
            boards[letter] |= 1 << INDEX[name]
        return boards


def ended(reason: Ending, score: Score) -> Outcome:
    """Give the outcome of a match that is over: the solver's, with the score's sentence."""
    return Outcome((0,), reason, score.detail)


def shown(stones: int, letter: str) -> dict[str, str]:
    """Give the stones of a set by name, as the JSON form has them."""
    return {NAMES[at]: letter for at in bits(stones)}


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Give a number with its noun: `1 stone`, `12 stones`."""
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"
