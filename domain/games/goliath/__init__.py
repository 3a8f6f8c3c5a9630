"""David and Goliath."""

from typing import Final

from domain.games.goliath.form import OPTIONS_FORM
from domain.games.goliath.game import Goliath
from domain.games.goliath.svg import paint_goliath
from domain.games.goliath.text import draw_goliath
from domain.rules.game import Game

GAME: Final = Game((Goliath(),), draw_goliath, paint_goliath, __name__, OPTIONS_FORM)
