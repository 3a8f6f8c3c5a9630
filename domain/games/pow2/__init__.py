"""The Power of Two."""

from domain.games.pow2 import engine, form, game, svg, text
from domain.rules.game import GamePackage

GAME = GamePackage(
    (game.Pow2Rules(),),
    text.draw,
    svg.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    engine=engine.ENGINE,
)
