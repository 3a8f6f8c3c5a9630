"""Four in a Row as text and in SVG."""

from typing import Final

from domain.boards.grid import StonesDrawing
from domain.games.connectfour.rules import GRID
from domain.games.connectfour.sentences import SAY

DRAWING: Final = StonesDrawing(
    GRID,
    lambda seat: SAY("disc-of", disc=seat),
    lambda count: SAY("counts", discs=count),
    upright=True,  # because discs fall downwards
)
