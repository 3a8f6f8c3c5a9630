"""That's My Line."""

from typing import Final

from domain.boards.pow2_board import places_below
from domain.game.engine import Budgets, GameEngine, SearchMethod, Slips, Values
from domain.game.protocol import STONE_PROMPT, GamePackage
from domain.games.line import drawing, form, schemas
from domain.games.line.rules import LinePosition, LineRules, open_places_of

_SCALE: Final = 6.0
"""The lead in stones at which a seat's share of the win is three quarters."""
_LAST_STONE: Final = 0.5
"""Dark's lead when all counts are equal: then the last stone wins, and Dark usually places it."""


def evaluate(position: LinePosition) -> Values:
    """Compare the stones that each player has, and is likely to place."""
    light, dark = open_places_of(position, 0), open_places_of(position, 1)
    lead = (
        position.light.bit_count()
        - position.dark.bit_count()
        + (light & ~dark).bit_count()
        - (dark & ~light).bit_count()
        - _LAST_STONE
    )
    value = 0.5 + lead / (2 * (_SCALE + abs(lead)))
    return value, 1 - value


ENGINE: Final = GameEngine(
    evaluate,
    SearchMethod.ALPHA_BETA,
    # Dark wins by mirroring each stone at the centre, where no lines cross, and the best of few moves
    # is often good enough; so the lower levels look at part of the moves only, and the medium one slips
    budgets=Budgets(3, 12, 60_000),
    slips=Slips(medium=16),
)

GAME = GamePackage(
    (LineRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    text_places=places_below,
    prompt=STONE_PROMPT,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
