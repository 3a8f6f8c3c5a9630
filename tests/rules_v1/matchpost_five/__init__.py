"""Five Together: how the game is drawn, and all that the server knows of it."""

from domain.boards.plain import PlainDrawing
from domain.game.protocol import STONE_PROMPT, GamePackage
from matchpost_five.rules import BOARD, FiveRules

DRAWING = PlainDrawing(
    BOARD, {"x": ("dark", 0, "a black stone"), "o": ("light", 1, "a white stone")}
)

GAME = GamePackage(
    (FiveRules(),),
    DRAWING.draw,
    DRAWING.paint,
    __name__,
    text_places=DRAWING.text_places,
    prompt=STONE_PROMPT,
    figures=DRAWING.figures,
)
