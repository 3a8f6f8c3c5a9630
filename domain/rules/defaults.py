"""What most games have in common, so that a game says only what is its own.

A game inherits `RulesDefaults` and overrides what differs. It is a game of two, without options,
without chance, without offers of its own and without a score, unless it says otherwise.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol, TypeVar

import msgspec

from domain.errors import Code, Refusal
from domain.rules.options import read_options, write_options
from domain.rules.protocol import Chance, Outcome, Score, Seat

J = TypeVar("J", bound=msgspec.Struct)

_NUMBERS: Final = ("nobody", "one", "two", "three", "four", "five", "six", "seven", "eight")


class NoOptions(msgspec.Struct, frozen=True):
    """There is nothing to choose."""


class _Game(Protocol):
    """What the defaults ask of the game that they complete."""

    def moves(self, position: Any) -> Sequence[Any]: ...

    def write(self, move: Any) -> str: ...

    def to_json(self, position: Any) -> dict[str, Any]: ...


class RulesDefaults:
    """The parts of `Rules` that are alike in most games."""

    key: str
    version: int = 1
    players: tuple[int, ...] = (2,)
    offers: tuple[str, ...] = ()
    options_type: type[msgspec.Struct] = NoOptions
    """The struct whose fields declare the option flags; see `domain.rules.options`."""

    # --- options and start

    def read_options(self, flags: Sequence[str]) -> Any:
        """Read option flags into the game's struct."""
        return read_options(self.options_type, flags)

    def write_options(self, options: Any) -> tuple[str, ...]:
        """Return the recorded form of options."""
        return write_options(options)

    def note(self, options: Any) -> str:
        """Return no warning."""
        del options
        return ""

    def needs_draw(self, options: Any, players: int) -> bool:
        """Return False, because chance decides nothing."""
        del options, players
        return False

    def draw(self, options: Any, players: int, chance: Chance) -> object | None:
        """Draw nothing."""
        del options, players, chance
        return None

    def check_players(self, players: int) -> None:
        """Refuse a number of players that the game is not for."""
        if players not in self.players:
            played = "solved" if self.players == (1,) else "played"
            numbers = " or ".join(map(_number, self.players))
            raise Refusal(
                Code.BAD_PLAYERS, f"{self.key} is {played} by {numbers}, not by {players}"
            )

    def check_start(self, players: int, setup: object | None) -> None:
        """Refuse a number of players that the game is not for, and any setup."""
        self.check_players(players)
        if setup is not None:
            raise Refusal(Code.BAD_SETUP, f"{self.key} has no setup that chance draws")

    # --- moves and positions

    def count_moves(self: _Game, position: Any) -> int:
        """Count the legal moves."""
        return len(self.moves(position))

    def legal_moves(self: _Game, position: Any) -> Iterator[str]:
        """Yield every legal move, written, in the order of `moves`."""
        return map(self.write, self.moves(position))

    def public_json(self: _Game, position: Any) -> dict[str, Any]:
        """Return the same as `to_json`."""
        return self.to_json(position)

    # --- leaving, offers, scores

    def leave(self, position: Any, seat: Seat) -> Any:
        """Never called: a match of one or two is over when a player leaves."""
        raise ValueError(f"seat {seat} left a match of {self.key} that goes on: {position!r}")

    def check_offer(self, position: Any, kind: str) -> None:
        """Never called: the game has no offers of its own."""
        raise ValueError(f"no offer {kind!r} in {position!r}")

    def agreed(self, position: Any, kind: str) -> Outcome | None:
        """Never called: the game has no offers of its own."""
        raise ValueError(f"no offer {kind!r} in {position!r}")

    def score(self, position: Any) -> Score | None:
        """Return nothing: a game for several players has no score."""
        del position
        return None


def _number(players: int) -> str:
    return _NUMBERS[players] if players < len(_NUMBERS) else str(players)


# --- reading positions and setups


def bad_position(key: str, problem: str) -> Refusal:
    """Return the refusal of a JSON form that is no position of the game."""
    return Refusal(Code.BAD_SETUP, f"this is no position of {key}: {problem}")


def bad_setup(key: str, problem: str) -> Refusal:
    """Return the refusal of a JSON form that is neither setup nor position of the game."""
    return Refusal(Code.BAD_SETUP, f"this does not fit {key}: {problem}")


def read_position(data: object, kind: type[J], key: str) -> J:
    """Return a position's JSON form as a struct, or refuse it."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise bad_position(key, str(error)) from None


def read_setup(data: object, kind: type[J], key: str) -> J:
    """Return a setup's JSON form as a struct, or refuse it."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise bad_setup(key, str(error)) from None


def check_turn(to_move: Seat, key: str, players: int = 2) -> None:
    """Refuse a position in which it is the turn of a seat that does not exist."""
    if not 0 <= to_move < players:
        raise bad_position(key, f"it can't be the turn of seat {to_move}")


# --- wording


def counted(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: `1 stone`, `12 stones`."""
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"
