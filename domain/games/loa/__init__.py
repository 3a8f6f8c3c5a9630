"""Lines of Action."""

from typing import Final

from domain.boards.grid import Place
from domain.game.engine import GameEngine, SearchMethod, Values
from domain.game.protocol import PIECE_PROMPT, GamePackage
from domain.games.loa import schemas
from domain.games.loa.drawing import DRAWING
from domain.games.loa.rules import BLACK, GRID, LoaPosition, LoaRules

# --- what robots use

_NEARER: Final = 0.15
"""The worth of each step by which pieces are nearer to their middle, on average."""
_ON_MOVE: Final = 0.02
"""The worth of the turn."""


def _far_from(middle: Place) -> tuple[int, ...]:
    """Return the squares at least one step from a square, two steps, and so on."""
    row, column = divmod(middle, GRID.columns)
    distances = [
        max(abs(row - at // GRID.columns), abs(column - at % GRID.columns))
        for at in range(len(GRID.names))
    ]
    return tuple(
        sum(1 << at for at, distance in enumerate(distances) if distance >= steps)
        for steps in range(1, max(distances) + 1)
    )


_FAR: Final = tuple(_far_from(at) for at in range(len(GRID.names)))
_BITS: Final = tuple(sum(1 << at for at in range(64) if at >> bit & 1) for bit in range(6))
"""For each bit of a square's number the squares that have it: three for the column, three for the row."""


def spread(pieces: int) -> float:
    """Return how many steps pieces are from their middle, on average."""
    number = pieces.bit_count()
    a, b, c, d, e, f = [(pieces & squares).bit_count() for squares in _BITS]
    column, row = (a + 2 * b + 4 * c) / number, (d + 2 * e + 4 * f) / number
    middle = GRID.columns * round(row) + round(column)
    return sum([(pieces & squares).bit_count() for squares in _FAR[middle]]) / number


def evaluate(position: LoaPosition) -> Values:
    """Compare how close the pieces of each player are."""
    ahead = spread(position.white) - spread(position.black)
    share = 0.5 + _NEARER * ahead + (_ON_MOVE if position.turn == BLACK else -_ON_MOVE)
    share = min(max(share, 0.01), 0.99)
    return share, 1 - share


ENGINE: Final = GameEngine(evaluate, method=SearchMethod.ALPHA_BETA)

GAME = GamePackage(
    (LoaRules(),),
    DRAWING.draw,
    DRAWING.paint,
    __name__,
    ring_percent=150,
    text_places=DRAWING.text_places,
    prompt=PIECE_PROMPT,
    engine=ENGINE,
    figures=DRAWING.figures,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
