"""That's My Line."""

from domain.games.line import form, game, svg, text
from domain.rules.game import GamePackage

GAME = GamePackage((game.LineRules(),), text.draw, svg.paint, __name__, form.OPTIONS_FORM)
