"""One by One."""

from functools import partial

from domain.boards.line_puzzle_drawing import FIGURES, draw_lines, paint_lines
from domain.boards.pow2_text import places_below
from domain.game.package import STONE_PROMPT, GamePackage
from domain.games.one import engine, game

GAME = GamePackage(
    (game.OneRules(),),
    partial(draw_lines, wanted=1, word="one", more=True),
    partial(paint_lines, wanted=1),
    __name__,
    text_places=places_below,
    prompt=STONE_PROMPT,
    engine=engine.ENGINE,
    figures=FIGURES,
)
