"""Halves."""

from domain.games.halves import form, game, svg, text
from domain.rules.game import Game

GAME = Game(
    (game.Halves(),),
    text.draw,
    svg.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    needs_previous=True,
    halo=0,
)
