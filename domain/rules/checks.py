"""Helpers for the rules of games: refusals of JSON forms, and numbers with their nouns."""

from typing import Final, TypeVar

import msgspec

from domain.errors import Code, Refusal
from domain.rules.protocol import Seat
from domain.sentences import counted

J = TypeVar("J", bound=msgspec.Struct)


def bad_position(key: str, problem: str) -> Refusal:
    """Return the refusal of a JSON form that is not a position of the game."""
    return Refusal(Code.BAD_SETUP, f"this is no position of {key}: {problem}")


def bad_setup(key: str, problem: str) -> Refusal:
    """Return the refusal of a JSON form that is neither a setup nor a position of the game."""
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
    """Refuse a position if the seat to move does not exist."""
    if not 0 <= to_move < players:
        raise bad_position(key, f"it can't be the turn of seat {to_move}")


STONES: Final = counted("stone", "stones", german=("Stein", "Steine"))
"""The form of a number of stones in sentences."""


def quantity(number: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: `1 stone`, `12 stones`."""
    return f"{number} {noun}" if number == 1 else f"{number} {nouns or noun + 's'}"
