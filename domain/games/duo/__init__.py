"""Cooperative That's My Line."""

from domain.games.duo import engine, game, svg, text
from domain.rules.game import GamePackage

GAME = GamePackage((game.DuoRules(),), text.draw, svg.paint, __name__, engine=engine.ENGINE)
