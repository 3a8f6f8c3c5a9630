"""David and Goliath."""

from domain.boards.pow2_text import places_below
from domain.game.package import PIECE_PROMPT, GamePackage
from domain.games.goliath import engine, form, game, svg, text

GAME = GamePackage(
    (game.GoliathRules(),),
    text.draw,
    svg.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    text_places=places_below,
    prompt=PIECE_PROMPT,
    engine=engine.ENGINE,
    figures=svg.FIGURES,
)
