"""David and Goliath."""

from domain.games.goliath import form, game, svg, text
from domain.rules.game import Game

GAME = Game((game.Goliath(),), text.draw, svg.paint, __name__, form.OPTIONS_FORM, featured=True)
