"""Why a move of That's My Line is illegal: one sentence that names the rule and the places."""

from domain.boards.pow2_board import ON_COMMON_LINE
from domain.games.line.position import Intersection, LinePosition, open_places
from domain.games.line.sentences import SAY
from domain.sentences import Text


def why_illegal(position: LinePosition, move: Intersection) -> Text | None:
    """Return why the player can't place a stone there; None for a legal move."""
    if open_places(position) >> move & 1:
        return None
    if not open_places(position):
        return SAY("over")
    if (position.light | position.dark) >> move & 1:
        return SAY("taken", stone=position.dark >> move & 1)
    opposing = position.light if position.turn else position.dark
    stones, other = ON_COMMON_LINE[move] & opposing, 1 - position.turn
    if stones.bit_count() == 1:
        return SAY("seen", other=other, stones=stones)
    return SAY("seen-all", other=other, stones=stones)
