"""Powerdrain."""

from domain.game.package import GamePackage
from domain.games.powerdrain import engine, form, game, svg, text
from domain.games.powerdrain.sentences import SAY

GAME = GamePackage(
    (game.PowerdrainRules(),),
    text.draw,
    svg.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    ring_percent=0,
    prompt=SAY("prompt"),
    text_places=text.places,
    engine=engine.ENGINE,
    figures=svg.FIGURES,
)
