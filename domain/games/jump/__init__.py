"""Get a Jump On."""

from domain.games.jump import form, game, svg, text
from domain.rules.game import Game

GAME = Game((game.Jump(),), text.draw, svg.paint, __name__, form.OPTIONS_FORM)
