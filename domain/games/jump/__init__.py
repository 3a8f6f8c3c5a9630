"""Get a Jump On."""

from domain.games.jump import engine, form, game, svg, text
from domain.rules.game import GamePackage

GAME = GamePackage(
    (game.JumpRules(),),
    text.draw,
    svg.paint,
    __name__,
    form.OPTIONS_FORM,
    engine=engine.ENGINE,
)
