"""Cooperative That's My Line."""

from typing import Final

from domain.games.duo.game import Duo
from domain.games.duo.svg import paint_duo
from domain.games.duo.text import draw_duo
from domain.rules.game import Game

GAME: Final = Game((Duo(),), draw_duo, paint_duo, __name__)
