"""The games of this distribution, one line each. `domain.rules.register_game` adds others."""

from typing import Final

from domain.game.protocol import GamePackage
from domain.games import (
    amazons,
    breakthrough,
    connectfour,
    duo,
    go,
    goliath,
    halves,
    hex,  # noqa: A004 - the game
    jump,
    line,
    loa,
    one,
    oware,
    pow2,
    powerdrain,
    reversi,
    torere,
    two,
)

GAMES: Final[tuple[GamePackage, ...]] = (
    pow2.GAME,
    goliath.GAME,
    line.GAME,
    powerdrain.GAME,
    halves.GAME,
    jump.GAME,
    one.GAME,
    two.GAME,
    duo.GAME,
    torere.GAME,
    reversi.GAME,
    hex.GAME,
    go.GAME,
    breakthrough.GAME,
    connectfour.GAME,
    loa.GAME,
    oware.GAME,
    amazons.GAME,
)
