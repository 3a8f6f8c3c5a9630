"""Cooperative That's My Line."""

from domain.games.duo import game, svg, text
from domain.rules.game import GamePackage

GAME = GamePackage((game.DuoRules(),), text.draw, svg.paint, __name__)
