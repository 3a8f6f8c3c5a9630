"""The interface of a game, and the look-up of games by key and of rules by version."""

from domain.rules.game import GamePackage
from domain.rules.missing_rules import MissingRules
from domain.rules.protocol import AnyRules, GameOutcome, IllegalMove, Rules, Seat, UnreadableMove
from domain.rules.registry import (
    Registry,
    all_games,
    all_rules,
    game_by_key,
    latest_rules,
    pack_position,
    register_game,
    rules_by_id,
    rules_id,
    unpack_position,
)

__all__ = [
    "AnyRules",
    "GameOutcome",
    "GamePackage",
    "IllegalMove",
    "MissingRules",
    "Registry",
    "Rules",
    "Seat",
    "UnreadableMove",
    "all_games",
    "all_rules",
    "game_by_key",
    "latest_rules",
    "pack_position",
    "register_game",
    "rules_by_id",
    "rules_id",
    "unpack_position",
]
