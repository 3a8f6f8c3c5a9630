"""The Power of Two."""

from domain.boards.pow2_text import places_below
from domain.game.package import PIECE_PROMPT, GamePackage
from domain.games.pow2 import engine, form, game, svg, text

GAME = GamePackage(
    (game.Pow2Rules(),),
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
