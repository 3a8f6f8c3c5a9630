"""Two by Two."""

from typing import Final

from domain.games.two.game import Two
from domain.games.two.svg import paint_two
from domain.games.two.text import draw_two
from domain.rules.game import Game

GAME: Final = Game((Two(),), draw_two, paint_two, __name__)
