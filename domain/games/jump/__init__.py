"""Get a Jump On."""

from typing import Final

from domain.boards.pow2_board import JUMPS, places_below
from domain.boards.sets import bits
from domain.game.engine import GameEngine, Values
from domain.game.protocol import GamePackage
from domain.games.jump import drawing, form, schemas
from domain.games.jump.rules import STONES, JumpMove, JumpPosition, JumpRules, first_moves

_MOST_CHAINS: Final = 300
"""The most chains of jumps that are looked at, because a full board has very many."""


def candidates(position: JumpPosition) -> list[JumpMove]:
    """Return the moves among the first chains of jumps."""
    return first_moves(position, _MOST_CHAINS)[0]


def evaluate(position: JumpPosition) -> Values:
    """Return the share of the way to all stones set and one left; each part is half of it."""
    left = position.stones.bit_count()
    if not position.is_part_two:
        return (left / STONES / 2,)
    first = position.solitaire_stones or STONES
    removed = (first - left) / max(1, first - 1)
    return (removed if position.solitaire_stones else (1 + removed) / 2,)


def guide(position: JumpPosition) -> float:
    """Count the stones set or removed, and the jumps that are possible."""
    stones = position.stones
    if position.is_part_two:
        jumping = sum(
            1
            for at in bits(stones)
            for _, over, landing in JUMPS[at]
            if stones & over and not stones & landing
        )
        return 2 * STONES - stones.bit_count() + jumping / 16 - position.plies / 64
    if not stones:
        return 0.0
    steps = sum(1 for _, over, at in JUMPS[position.jumper] if not stones & (over | at))
    return stones.bit_count() + steps / 16


ENGINE: Final = GameEngine(evaluate, candidates=candidates, guide=guide)

GAME = GamePackage(
    (JumpRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    text_places=places_below,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
