"""Cooperative That's My Line."""

from domain.boards.pow2_text import places_below
from domain.game.package import STONE_PROMPT, GamePackage
from domain.games.duo import engine, game, svg, text

GAME = GamePackage(
    (game.DuoRules(),),
    text.draw,
    svg.paint,
    __name__,
    text_places=places_below,
    prompt=STONE_PROMPT,
    engine=engine.ENGINE,
    figures=svg.FIGURES,
)
