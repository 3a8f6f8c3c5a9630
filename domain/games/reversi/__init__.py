"""Reversi."""

from typing import Final

from domain.game.engine import GameEngine, SearchMethod, Values
from domain.game.protocol import STONE_PROMPT, GamePackage
from domain.games.reversi import schemas
from domain.games.reversi.drawing import DRAWING
from domain.games.reversi.rules import ALL, GRID, ReversiPosition, ReversiRules, near

_CORNERS: Final = tuple(1 << GRID.index[name] for name in ("a1", "h1", "a8", "h8"))
_BESIDE_CORNERS: Final = tuple(1 << GRID.index[name] for name in ("b2", "g2", "b7", "g7"))
_CORNER, _BESIDE, _OPEN = 0.09, 0.05, 0.012
"""The worth of a corner, of a disc diagonally beside an empty one, and of one beside an empty square."""
_LAST: Final = 10
"""With so few empty squares discs count."""


def evaluate(position: ReversiPosition) -> Values:
    """Count corners, discs that give a corner away, and discs that others can turn over."""
    black, white = position.black, position.white
    empty = ALL & ~(black | white)
    if empty.bit_count() <= _LAST:
        ahead = (black.bit_count() - white.bit_count()) / 64
    else:
        open_ = near(empty)
        ahead = _OPEN * ((white & open_).bit_count() - (black & open_).bit_count())
    for corner, beside in zip(_CORNERS, _BESIDE_CORNERS, strict=True):
        if corner & empty:
            ahead += _BESIDE * (bool(white & beside) - bool(black & beside))
        else:
            ahead += _CORNER if corner & black else -_CORNER
    share = min(max(0.5 + ahead, 0.01), 0.99)
    return share, 1 - share


ENGINE: Final = GameEngine(evaluate, method=SearchMethod.ALPHA_BETA)

GAME = GamePackage(
    (ReversiRules(),),
    DRAWING.draw,
    DRAWING.paint,
    __name__,
    ring_percent=150,
    text_places=DRAWING.text_places,
    prompt=STONE_PROMPT,
    engine=ENGINE,
    figures=DRAWING.figures,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
