"""Why a move of Cooperative That's My Line is illegal: one sentence that names the places."""

from domain.boards.pow2_board import ON_COMMON_LINE, blocking_sentence
from domain.games.duo.position import COLOURS, FINISH, NEITHER, DuoPosition, Intersection, places
from domain.rules.puzzle import SOLVER_IS_DONE


def why_illegal(position: DuoPosition, move: Intersection) -> str | None:
    """Return why no stone can be placed there; None for a legal move."""
    if position.done:
        return SOLVER_IS_DONE
    if position.colour == NEITHER:
        return "the match is over: neither colour has a place"
    if move == FINISH or places(position) >> move & 1:
        return None
    if (position.light | position.dark) >> move & 1:
        return f"it is occupied by {'x' if position.dark >> move & 1 else 'o'}"
    other = position.light if position.colour else position.dark
    return blocking_sentence(f"the {COLOURS[1 - position.colour]}", ON_COMMON_LINE[move] & other)
