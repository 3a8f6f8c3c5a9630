"""The catalogue of games: their look-up by key, and that of rules by version."""

from domain.game.protocol import (
    AnyRules,
    GameOutcome,
    GamePackage,
    IllegalMove,
    Rules,
    Seat,
    UnreadableMove,
)
from domain.rules.missing_rules import MissingRules
from domain.rules.openings import Opening, read_opening, recorded_opening
from domain.rules.registry import (
    Registry,
    all_games,
    all_rules,
    game_by_key,
    game_keys,
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
    "Opening",
    "Registry",
    "Rules",
    "Seat",
    "UnreadableMove",
    "all_games",
    "all_rules",
    "game_by_key",
    "game_keys",
    "latest_rules",
    "pack_position",
    "read_opening",
    "recorded_opening",
    "register_game",
    "rules_by_id",
    "rules_id",
    "unpack_position",
]
