"""Four in a Row."""

from typing import Final

from domain.boards.sets import bits
from domain.game.engine import GameEngine, SearchMethod, Values
from domain.game.protocol import STONE_PROMPT, GamePackage
from domain.games.connectfour import schemas
from domain.games.connectfour.drawing import DRAWING
from domain.games.connectfour.rules import (
    ALL,
    COLUMNS,
    GRID,
    HEIGHT,
    STEPS,
    ConnectFourPosition,
    ConnectFourRules,
    Place,
)

# --- what robots use

_GAP: Final = 0.03
"""The worth of an empty place that completes four."""
_TIMELY: Final = 0.03
"""Its further worth in a row that its player gets if the others are filled: Black odd ones, White even ones."""
_MIDDLE: Final = 0.004
"""The worth of a disc, for each column that it is nearer to the middle."""
_ODD: Final = sum(0b010101 << HEIGHT * column for column in range(GRID.columns))
_FROM_THE_MIDDLE: Final = tuple(
    sorted(range(GRID.columns), key=lambda column: abs(column - GRID.columns // 2))
)
_NEARER: Final = tuple(sum(COLUMNS[3 - away : 4 + away]) for away in range(3))
"""The places of the middle columns, more and more of them."""


def gaps(discs: int, others: int) -> int:
    """Return the empty places that complete four in a row."""
    found = 0
    for step in STEPS:
        above, below = discs << step, discs >> step
        above2, below2 = above & discs << 2 * step, below & discs >> 2 * step
        found |= above2 & (discs << 3 * step | below) | below2 & (discs >> 3 * step | above)
    return found & ALL & ~(discs | others)


def _worth(discs: int, open_: int, timely: int) -> float:
    found = _GAP * open_.bit_count() + _TIMELY * (open_ & timely).bit_count()
    return found + _MIDDLE * sum([(discs & places).bit_count() for places in _NEARER])


def evaluate(position: ConnectFourPosition) -> Values:
    """Compare the places that complete four, and how near to the middle the discs are."""
    black, white = position.black, position.white
    ahead = _worth(black, gaps(black, white), _ODD) - _worth(white, gaps(white, black), ~_ODD)
    share = min(max(0.5 + ahead, 0.01), 0.99)
    return share, 1 - share


def candidates(position: ConnectFourPosition) -> list[Place]:
    """Return the move that wins or prevents four, or else all those that don't allow it, the middle first."""
    own, other = position.discs
    landings, theirs = position.landings, gaps(other, own)
    for forced in (gaps(own, other) & landings, theirs & landings):
        if forced:
            return [next(bits(forced))]
    safe = landings & ~(theirs >> 1) or landings
    return [at for column in _FROM_THE_MIDDLE for at in bits(safe & COLUMNS[column])]


ENGINE: Final = GameEngine(evaluate, method=SearchMethod.ALPHA_BETA, candidates=candidates)

GAME = GamePackage(
    (ConnectFourRules(),),
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
