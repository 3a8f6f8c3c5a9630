"""Mū tōrere."""

from domain.games.torere import game, svg, text
from domain.rules.game import Game

GAME = Game((game.Torere(),), text.draw, svg.paint, __name__, halo=200)
