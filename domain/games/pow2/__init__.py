"""The Power of Two."""

from domain.games.pow2 import form, game, svg, text
from domain.rules.game import Game

GAME = Game((game.Pow2(),), text.draw, svg.paint, __name__, form.OPTIONS_FORM, featured=True)
