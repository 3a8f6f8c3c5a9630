"""Why a move of mū tōrere is illegal: one sentence that names the rule and the places."""

from domain.games.torere.position import SIDES, TorereMove, TorerePosition, beside, movable, places


def why_illegal(  # noqa: PLR0911 - one sentence a rule
    position: TorerePosition, move: TorereMove
) -> str | None:
    """Return which rule a move breaks, and where; None for a legal move."""
    (start, end), empty = move, position.empty
    own, other = SIDES[position.turn], SIDES[1 - position.turn]
    if end == empty and movable(position) >> start & 1:
        return None
    if not movable(position):
        return f"the match is over: {own} can't move"
    if start == empty:
        return f"no stone stands on {start}"
    if (position.light if position.turn else position.dark) >> start & 1:
        return f"the stone on {start} is {other}'s"
    if end != empty:
        return f"{end} is occupied by {'x' if position.dark >> end & 1 else 'o'}"
    if end:
        return f"{start} and {end} are not neighbours on the circle"
    left, right = places(beside(1 << start))
    return f"neither {left} nor {right}, beside {start}, holds a stone of {other}'s"
