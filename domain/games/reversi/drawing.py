"""Reversi as text and in SVG."""

from typing import Final

from domain.boards.grid import StonesDrawing
from domain.games.reversi.rules import GRID
from domain.games.reversi.sentences import SAY

DRAWING: Final = StonesDrawing(
    GRID,
    lambda seat: SAY("disc-of", disc=seat),
    lambda count: SAY("counts", discs=count),
)
