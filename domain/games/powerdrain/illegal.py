"""Why a move of Powerdrain is illegal: one sentence that names the rule and the places."""

from domain.games.powerdrain.position import (
    PLUGS,
    SECTIONS,
    SIDES,
    PowerdrainMove,
    PowerdrainPosition,
    grid_of,
    is_legal,
)


def why_illegal(position: PowerdrainPosition, move: PowerdrainMove) -> str | None:
    """Return which rule a move breaks, and where; None for a legal move."""
    if is_legal(position, move):
        return None
    if position.over:
        return f"the match is over: all {len(PLUGS)} plugs are in"
    plug, section, grid = PLUGS[move.plug], SECTIONS[move.section], grid_of(position)
    for at, (other, _) in grid.items():
        if other == plug:
            return f"plug {plug} is in section {at} already"
    if not position.hand >> move.plug & 1:
        mover, other = SIDES[position.turn], SIDES[1 - position.turn]
        return f"plug {plug} is {other}'s, and it is {mover}'s turn"
    return f"section {section} holds plug {grid[section][0]} already"
