"""The Power of Two."""

from typing import Final

from domain.games.pow2.form import OPTIONS_FORM
from domain.games.pow2.game import Pow2
from domain.games.pow2.svg import paint_pow2
from domain.games.pow2.text import draw_pow2
from domain.rules.game import Game

GAME: Final = Game((Pow2(),), draw_pow2, paint_pow2, __name__, OPTIONS_FORM)
