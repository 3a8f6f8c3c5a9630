"""Two by Two."""

from domain.games.two import game, svg, text
from domain.rules.game import Game

GAME = Game((game.Two(),), text.draw, svg.paint, __name__)
