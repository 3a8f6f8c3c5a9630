"""Get a Jump On."""

from domain.boards.pow2_text import places_below
from domain.game.package import GamePackage
from domain.games.jump import engine, form, game, svg, text

GAME = GamePackage(
    (game.JumpRules(),),
    text.draw,
    svg.paint,
    __name__,
    form.OPTIONS_FORM,
    text_places=places_below,
    engine=engine.ENGINE,
    figures=svg.FIGURES,
)
