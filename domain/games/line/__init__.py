"""That's My Line."""

from domain.games.line import form, game, svg, text
from domain.rules.game import Game

GAME = Game((game.Line(),), text.draw, svg.paint, __name__, form.OPTIONS_FORM)
