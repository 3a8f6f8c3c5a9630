"""The interface of a game, and the look-up of games by key and of rules by version."""

from domain.rules.game import Game
from domain.rules.missing import MissingRules
from domain.rules.protocol import AnyRules, IllegalMove, Outcome, Rules, Seat, UnreadableMove
from domain.rules.registry import (
    Registry,
    all_games,
    all_rules,
    current,
    game_of,
    pack,
    pinned,
    register,
    rules_id,
    unpack,
)

__all__ = [
    "AnyRules",
    "Game",
    "IllegalMove",
    "MissingRules",
    "Outcome",
    "Registry",
    "Rules",
    "Seat",
    "UnreadableMove",
    "all_games",
    "all_rules",
    "current",
    "game_of",
    "pack",
    "pinned",
    "register",
    "rules_id",
    "unpack",
]
