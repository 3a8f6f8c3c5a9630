"""One by One."""

from typing import Final

from domain.games.one.game import One
from domain.games.one.svg import paint_one
from domain.games.one.text import draw_one
from domain.rules.game import Game

GAME: Final = Game((One(),), draw_one, paint_one, __name__)
