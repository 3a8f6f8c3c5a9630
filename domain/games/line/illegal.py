"""Why a move of That's My Line is illegal: one sentence that names the rule and the places."""

from domain.boards.pow2_board import SEEN, in_the_way
from domain.games.line.position import SIDES, Intersection, LinePosition, room


def why_illegal(position: LinePosition, move: Intersection) -> str | None:
    """Return why the player can't place a stone there; None for a legal move."""
    if room(position) >> move & 1:
        return None
    if not room(position):
        return "the match is over: neither player can place a stone"
    if (position.light | position.dark) >> move & 1:
        return f"it is occupied by {'x' if position.dark >> move & 1 else 'o'}"
    opposing = position.light if position.turn else position.dark
    return in_the_way(f"{SIDES[1 - position.turn]}'s", SEEN[move] & opposing)
