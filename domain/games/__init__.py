"""The games of this distribution, one line each. `domain.rules.register_game` adds others."""

from typing import Final

from domain.game.protocol import GamePackage
from domain.games import (
<<<<<<< HEAD
    breakthrough,
    connectfour,
=======
    amazons,
>>>>>>> a3ac2d14eb6a96146494201b663660874db4bb3c
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
<<<<<<< HEAD
<<<<<<< HEAD
    go.GAME,
=======
    breakthrough.GAME,
    connectfour.GAME,
    loa.GAME,
>>>>>>> fa2362d9e5632277ce77d686d1712a3bd507065c
=======
    oware.GAME,
    amazons.GAME,
>>>>>>> a3ac2d14eb6a96146494201b663660874db4bb3c
)
