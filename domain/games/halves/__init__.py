"""Halves."""

from typing import Final

from domain.games.halves.form import OPTIONS_FORM
from domain.games.halves.game import Halves
from domain.games.halves.svg import paint_halves
from domain.games.halves.text import draw_halves
from domain.rules.game import Game

GAME: Final = Game((Halves(),), draw_halves, paint_halves, __name__, OPTIONS_FORM)
