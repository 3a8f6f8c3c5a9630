"""Why a move of mū tōrere is illegal: one sentence that names the rule and the places."""

from domain.games.torere.position import TorereMove, TorerePosition, beside, movable, places
from domain.games.torere.sentences import SAY
from domain.sentences import Text


def why_illegal(  # noqa: PLR0911 - one sentence a rule
    position: TorerePosition, move: TorereMove
) -> Text | None:
    """Return which rule a move breaks, and where; None for a legal move."""
    (start, end), empty = move, position.empty
    other = 1 - position.turn
    if end == empty and movable(position) >> start & 1:
        return None
    if not movable(position):
        return SAY("over", mover=position.turn)
    if start == empty:
        return SAY("empty", start=start)
    if (position.light if position.turn else position.dark) >> start & 1:
        return SAY("owner", start=start, other=other)
    if end != empty:
        return SAY("taken", end=end, stone=position.dark >> end & 1)
    if end:
        return SAY("circle", start=start, end=end)
    left, right = places(beside(1 << start))
    return SAY("putahi", left=left, right=right, start=start, other=other)
