"""Get a Jump On."""

from typing import Final

from domain.games.jump.form import OPTIONS_FORM
from domain.games.jump.game import Jump
from domain.games.jump.svg import paint_jump
from domain.games.jump.text import draw_jump
from domain.rules.game import Game

GAME: Final = Game((Jump(),), draw_jump, paint_jump, __name__, OPTIONS_FORM)
