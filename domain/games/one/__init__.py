"""One by One."""

from domain.games.one import game, svg, text
from domain.rules.game import Game

GAME = Game((game.One(),), text.draw, svg.paint, __name__)
