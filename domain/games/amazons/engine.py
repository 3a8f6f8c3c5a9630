"""The evaluation of Amazons by which player is nearer to each empty square, and the moves worth a search."""

from heapq import nlargest
from typing import Final

from domain.boards.sets import bits
from domain.game.engine import Budgets, GameEngine, SearchMethod, Values
from domain.games.amazons.rules import (
    STRIDE,
    AmazonsMove,
    AmazonsPosition,
    AmazonsRules,
    moves_of_amazons,
    set_of,
    spread,
)

_RULES: Final = AmazonsRules()
_EQUAL: Final = 0.15
"""The worth of a square that both reach in as many moves, for the player on move."""
_REACH: Final = 0.12
"""The worth of a square that an amazon reaches in one move."""
_LEVEL: Final = 12
"""So many squares ahead are a share of three quarters."""
_ALL: Final = 60
"""With so few moves all are searched."""
_MOVES, _ARROWS = 12, 4
"""Otherwise so many moves of amazons, those that leave most squares to go on to, and so many arrows of each."""


def territory(white: int, black: int, empty: int) -> tuple[int, int]:
    """Return how many more squares White reaches in fewer moves than Black, and how many both in equally many."""
    ahead = equal = seen_white = seen_black = 0
    while white or black:
        white, black = spread(white, empty) & ~seen_white, spread(black, empty) & ~seen_black
        new_white, new_black = white & ~seen_black, black & ~seen_white
        both = new_white & new_black
        ahead += new_white.bit_count() - new_black.bit_count()
        equal += both.bit_count()
        seen_white |= white
        seen_black |= black
    return ahead, equal


def _beside(places: int) -> int:
    """Return the places at the sides and corners of some places, and beside the board."""
    wide = places | places << 1 | places >> 1
    return wide | wide << STRIDE | wide >> STRIDE


def evaluate(position: AmazonsPosition) -> Values:
    """Compare the squares that each player reaches first, and those in reach at once."""
    white, black, empty = set_of(position.white), set_of(position.black), position.empty
    ahead, equal = territory(white, black, empty)
    on_move = -_EQUAL if position.turn else _EQUAL
    reach = spread(white, empty).bit_count() - spread(black, empty).bit_count()
    worth = ahead + on_move * equal + _REACH * reach
    share = 0.5 + worth / (2 * (_LEVEL + abs(worth)))
    return share, 1 - share


def candidates(position: AmazonsPosition) -> list[AmazonsMove]:
    """Return moves to where an amazon has much room, with arrows that take room from the opponent."""
    own, other = position.amazons[position.turn], position.amazons[1 - position.turn]
    empty = position.empty
    found = [*moves_of_amazons(own, empty)]
    if sum(arrows.bit_count() for *_, arrows in found) <= _ALL:
        return _RULES.moves(position)
    reached = spread(set_of(other), empty)
    near = _beside(set_of(other)) & empty
    best = nlargest(_MOVES, found, key=lambda move: move[2].bit_count())
    return [
        (start, end, arrow)
        for start, end, arrows in best
        for arrow in [
            *bits(arrows & near),
            *bits(arrows & reached & ~near),
            *bits(arrows & ~reached),
        ][:_ARROWS]
    ]


ENGINE: Final = GameEngine(
    evaluate,
    method=SearchMethod.ALPHA_BETA,
    candidates=candidates,
    budgets=Budgets(80, 600, 6_000),  # a node takes a fifth of a millisecond
)
