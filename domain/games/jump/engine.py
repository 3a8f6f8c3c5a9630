"""The part of Get a Jump On that the engine uses."""

from typing import Final

from domain.engine.game_engine import GameEngine
from domain.games.jump.position import JumpMove, JumpPosition, first_moves

_MOST_CHAINS: Final = 300
"""The most chains of jumps that are looked at, because a full board has very many."""


def candidates(position: JumpPosition) -> list[JumpMove]:
    """Return the moves among the first chains of jumps."""
    return first_moves(position, _MOST_CHAINS)[0]


ENGINE: Final = GameEngine(candidates=candidates)
