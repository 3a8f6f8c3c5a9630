"""Mū tōrere."""

from typing import Final

from domain.games.torere.game import Torere
from domain.games.torere.svg import paint_torere
from domain.games.torere.text import draw_torere
from domain.rules.game import Game

GAME: Final = Game((Torere(),), draw_torere, paint_torere, __name__)
