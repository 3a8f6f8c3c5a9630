"""Why a move of That's My Line is illegal: one sentence that names the rule and the places."""

from domain.boards.pow2_board import ON_COMMON_LINE, blocking_sentence
from domain.games.line.position import SIDES, Intersection, LinePosition, open_places


def why_illegal(position: LinePosition, move: Intersection) -> str | None:
    """Return why the player can't place a stone there; None for a legal move."""
    if open_places(position) >> move & 1:
        return None
    if not open_places(position):
        return "the match is over: neither player can place a stone"
    if (position.light | position.dark) >> move & 1:
        return f"it is occupied by {'x' if position.dark >> move & 1 else 'o'}"
    opposing = position.light if position.turn else position.dark
    return blocking_sentence(f"{SIDES[1 - position.turn]}'s", ON_COMMON_LINE[move] & opposing)
