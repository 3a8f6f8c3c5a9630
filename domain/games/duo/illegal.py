"""Why a move of Cooperative That's My Line is illegal: one sentence that names the places."""

from domain.boards.pow2_board import ON_COMMON_LINE
from domain.game.puzzle import SOLVER_IS_DONE
from domain.games.duo.position import FINISH, NEITHER, DuoPosition, Intersection, places
from domain.games.duo.sentences import SAY
from domain.sentences import Text


def why_illegal(position: DuoPosition, move: Intersection) -> Text | None:
    """Return why no stone can be placed there; None for a legal move."""
    if position.done:
        return SOLVER_IS_DONE
    if position.colour == NEITHER:
        return SAY("over")
    if move == FINISH or places(position) >> move & 1:
        return None
    if (position.light | position.dark) >> move & 1:
        return SAY("taken", stone=position.dark >> move & 1)
    other = position.light if position.colour else position.dark
    stones, colour = ON_COMMON_LINE[move] & other, 1 - position.colour
    if stones.bit_count() == 1:
        return SAY("seen", colour=colour, stones=stones)
    return SAY("seen-all", colour=colour, stones=stones)
