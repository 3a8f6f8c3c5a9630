"""The games of this distribution, by their folders. `domain.rules.register_game` adds others."""

from importlib import import_module
from typing import Final

from domain.game.protocol import GamePackage

KEYS: Final = (
    "pow2",
    "goliath",
    "line",
    "powerdrain",
    "halves",
    "jump",
    "one",
    "two",
    "duo",
    "torere",
    "reversi",
    "hex",
    "go",
    "breakthrough",
    "connectfour",
    "loa",
    "oware",
    "amazons",
)
"""A line for each game, in the order in which they are listed."""


def load_game(key: str) -> GamePackage:
    """Import the game of a key among `KEYS`."""
    game: GamePackage = import_module(f"{__name__}.{key}").GAME
    return game
