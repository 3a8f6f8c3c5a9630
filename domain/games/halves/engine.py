"""The part of Halves that the engine uses."""

from typing import Final

from domain.engine.game_engine import GameEngine
from domain.games.halves.position import HalvesPosition


def players(position: HalvesPosition) -> int:
    """Return the number of seats of the match, of which some may have left."""
    return len(position.colours)


ENGINE: Final = GameEngine(players=players)
