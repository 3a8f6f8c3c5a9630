"""Cooperative That's My Line."""

from domain.games.duo import game, svg, text
from domain.rules.game import Game

GAME = Game((game.Duo(),), text.draw, svg.paint, __name__)
