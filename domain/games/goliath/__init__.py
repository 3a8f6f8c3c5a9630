"""David and Goliath."""

from typing import Final

from domain.boards.pow2_board import EVERYWHERE, adjacent_to, places_below
from domain.game.engine import Budgets, GameEngine, SearchMethod, Values
from domain.game.protocol import PIECE_PROMPT, GamePackage
from domain.games.goliath import drawing, form, schemas
from domain.games.goliath.rules import GoliathPosition, GoliathRules

_BESIDE: Final = 2
"""The worth of an empty place beside a figure, on top of the place itself."""
_SCALE: Final = 20.0
"""The lead in places at which a seat's share of the win is three quarters."""


def evaluate(position: GoliathPosition) -> Values:
    """Compare the places that each figure reaches first, step by step along edges.

    If stones separate the figures, the larger region wins by a count.
    """
    own, other = 1 << position.david, 1 << position.goliath
    if position.turn:
        own, other = other, own
    open_to = EVERYWHERE & ~(position.light | position.dark | own | other)
    own_new, other_new = adjacent_to(own) & open_to, adjacent_to(other) & open_to
    lead = _BESIDE * (own_new.bit_count() - other_new.bit_count())
    own_first = other_first = both = 0
    while own_new or other_new:
        open_to &= ~(own_new | other_new)
        both |= own_new & other_new
        own_first |= own_new & ~other_new
        other_first |= other_new & ~own_new
        own_new = adjacent_to(own_new) & open_to
        other_new = adjacent_to(other_new) & open_to
    more = own_first.bit_count() - other_first.bit_count()
    if not both and not adjacent_to(own | own_first) & (other | other_first):
        value = 0.5 + (more > 0) / 2 - (more < 0) / 2
    else:
        value = 0.5 + (lead + more) / (2 * (_SCALE + abs(lead + more)))
    return (1 - value, value) if position.turn else (value, 1 - value)


ENGINE: Final = GameEngine(evaluate, SearchMethod.ALPHA_BETA, budgets=Budgets(100, 300, 30_000))

GAME = GamePackage(
    (GoliathRules(),),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    featured=True,
    text_places=places_below,
    prompt=PIECE_PROMPT,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
