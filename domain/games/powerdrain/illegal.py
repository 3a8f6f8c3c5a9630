"""Why a move of Powerdrain is illegal: one sentence that names the rule and the places."""

from domain.games.powerdrain.position import (
    PLUG,
    PLUGS,
    SECTION,
    SECTIONS,
    PowerdrainMove,
    PowerdrainPosition,
    grid_of,
    is_legal,
)
from domain.games.powerdrain.sentences import SAY
from domain.sentences import Text


def why_illegal(position: PowerdrainPosition, move: PowerdrainMove) -> Text | None:
    """Return which rule a move breaks, and where; None for a legal move."""
    if is_legal(position, move):
        return None
    if position.over:
        return SAY("over", plugs=len(PLUGS))
    plug, section, grid = PLUGS[move.plug], SECTIONS[move.section], grid_of(position)
    for at, (other, _) in grid.items():
        if other == plug:
            return SAY("used", plug=move.plug, section=SECTION[at])
    if not position.hand >> move.plug & 1:
        return SAY("owner", plug=move.plug, other=1 - position.turn, mover=position.turn)
    return SAY("taken", section=move.section, plug=PLUG[grid[section][0]])
