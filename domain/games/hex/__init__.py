"""Hex."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from domain.boards.rhombus import NAMES, Place, all_places, beside, column_and_row, sides_of
from domain.boards.sets import bits
from domain.game.engine import GameEngine, SearchMethod, Values
from domain.game.protocol import STONE_PROMPT, ChoiceWords, GamePackage, Seat, WordMove
from domain.games.hex import drawing, form, schemas
from domain.games.hex.rules import BLACK, SWAP, WHITE, HexPosition, HexRules
from domain.games.hex.sentences import SAY

RULES: Final = HexRules()

# --- what robots use

_STONE: Final = 0.07
"""The worth of being one stone nearer to a connection than the opponent."""
_ON_MOVE: Final = 0.035
"""The worth of the turn."""
_FAIR: Final = 2
"""Black's first stone is taken over where it is in the middle half of the board."""
_MIDDLE: Final = 5
"""So many places in the middle are always searched."""


def stones_missing(size: int, own: int, other: int, seat: Seat) -> int:
    """Return how many stones a player still needs for a connection, if the opponent passed."""
    above, below, left, right = sides_of(size)
    begin, end = (above, below) if seat == BLACK else (left, right)
    free = all_places(size) & ~other
    reached, new, missing = 0, begin & own, 0
    while True:
        while new:  # and all that stones connect with it
            reached |= new
            new = beside(new) & own & ~reached
        if reached & end:
            return missing
        new = (beside(reached) | begin) & free & ~reached
        if not new:
            return size * size  # the opponent has connected
        missing += 1


def evaluate(position: HexPosition) -> Values:
    """Compare how many stones each player still needs."""
    black, white = position.stones
    size = position.size
    ahead = stones_missing(size, white, black, WHITE) - stones_missing(size, black, white, BLACK)
    share = 0.5 + _STONE * ahead + (_ON_MOVE if position.turn == BLACK else -_ON_MOVE)
    share = min(max(share, 0.01), 0.99)
    return share, 1 - share


@cache
def _from_the_middle(size: int) -> tuple[Place, ...]:
    """Return the places of a board, those in the middle first."""
    middle = (size - 1) / 2

    def distance(at: Place) -> float:
        column, row = (each - middle for each in column_and_row(at))
        return max(abs(column), abs(row), abs(column + row))

    return tuple(sorted(bits(all_places(size)), key=distance))


def candidates(position: HexPosition) -> list[Place]:
    """Return the empty places within two steps of a stone, and those in the middle; the middle first."""
    black, white = position.stones
    stones, middle = black | white, _from_the_middle(position.size)
    if position.can_swap and middle.index(stones.bit_length() - 1) < len(middle) // _FAIR:
        return [SWAP]
    near = beside(beside(stones) | stones) | sum(1 << at for at in middle[:_MIDDLE])
    found = [at for at in middle if (near & ~stones) >> at & 1]
    if position.turn == BLACK and position.swap and not stones:  # what White would not take over
        found = list(middle[len(middle) // _FAIR :][:_MIDDLE])
    return found or [at for at in middle if not stones >> at & 1]


ENGINE: Final = GameEngine(evaluate, method=SearchMethod.ALPHA_BETA, candidates=candidates)


def choice(position: HexPosition, names: Sequence[str]) -> ChoiceWords | None:
    """Return the words that offer to swap; None where that is not possible."""
    del names
    if not position.can_swap:
        return None
    after = RULES.play(position, SWAP)
    place = NAMES[after.stones[WHITE].bit_length() - 1]
    swap = WordMove(SAY("swap"), SAY("swapped", place=place))
    return ChoiceWords(SAY("place-or-swap"), {"swap": swap})


GAME = GamePackage(
    (RULES,),
    drawing.draw,
    drawing.paint,
    __name__,
    form.OPTIONS_FORM,
    ring_percent=90,
    text_places=drawing.text_places,
    prompt=STONE_PROMPT,
    choice=choice,
    engine=ENGINE,
    figures=drawing.FIGURES,
    notation=schemas.NOTATION,
    position=schemas.POSITION,
)
