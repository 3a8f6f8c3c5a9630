"""Powerdrain."""

from domain.games.powerdrain import form, game, svg, text
from domain.rules.game import Game

GAME = Game(
    (game.Powerdrain(),),
    text.draw,
    svg.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    halo=0,
    prompt="Choose a plug.",
)
