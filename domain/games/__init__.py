"""The games of this distribution, one line each. Others come by `domain.rules.register`."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from domain.drawing.puzzles import draw_one, draw_two
from domain.drawing.svg_stones import (
    paint_one,
    paint_two,
)
from domain.drawing.text import TextInput
from domain.games import duo, goliath, halves, jump, line, pow2, powerdrain, torere
from domain.rules.game import Game
from domain.rules.one import One
from domain.rules.two import Two


def _old(draw: Callable[[Mapping[str, Any], str], str]) -> Callable[[TextInput], str]:
    return lambda it: draw(it.position, it.display)


GAMES: Final[tuple[Game, ...]] = (
    pow2.GAME,
    goliath.GAME,
    line.GAME,
    powerdrain.GAME,
    halves.GAME,
    jump.GAME,
    Game((One(),), _old(draw_one), paint_one, "domain.games.one"),
    Game((Two(),), _old(draw_two), paint_two, "domain.games.two"),
    duo.GAME,
    torere.GAME,
)
