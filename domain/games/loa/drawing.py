"""Lines of Action as text and in SVG."""

from typing import Final

from domain.boards.grid import StonesDrawing
from domain.games.loa.rules import GRID
from domain.games.loa.sentences import SAY

DRAWING: Final = StonesDrawing(
    GRID,
    lambda seat: SAY("piece-of", piece=seat),
    lambda count: SAY("counts", pieces=count),
)
