"""That's My Line."""

from typing import Final

from domain.games.line.form import OPTIONS_FORM
from domain.games.line.game import Line
from domain.games.line.svg import paint_line
from domain.games.line.text import draw_line
from domain.rules.game import Game

GAME: Final = Game((Line(),), draw_line, paint_line, __name__, OPTIONS_FORM)
