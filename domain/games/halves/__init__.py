"""Halves."""

from domain.game.package import GamePackage
from domain.games.halves import choice, engine, form, game, svg, text

GAME = GamePackage(
    (game.HalvesRules(),),
    text.draw,
    svg.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    needs_previous_position=True,
    ring_percent=0,
    engine=engine.ENGINE,
    text_places=text.places,
    choice=choice.choice,
    figures=svg.FIGURES,
)
