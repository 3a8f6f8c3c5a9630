"""Why a move of Halves is illegal: one sentence that names the rule and the tiles."""

from typing import Final

from domain.boards.hexes import STEPS, neighbours_of_cells
from domain.games.halves.outcome import outcome
from domain.games.halves.position import (
    OVER,
    HalvesMove,
    HalvesPhase,
    HalvesPosition,
    KeepRule,
    placeable_cells,
    surviving_groups,
)
from domain.games.halves.sentences import SAY, packed_groups
from domain.sentences import Text

FORM: Final = SAY("form")


def why_illegal(position: HalvesPosition, move: HalvesMove) -> Text:
    """Return which rule an illegal move breaks, and where."""
    if position.turn == OVER:
        ending = outcome(position)
        assert ending is not None
        return SAY("over", detail=ending.detail)
    if position.phase is HalvesPhase.CONTRACT:
        return SAY("due", mover=position.turn)
    if not move.number:
        return SAY("not-due")
    if position.phase is HalvesPhase.GROW:
        return _placing_problem(position, move)
    return _tile_problem(position, move.number) or _group_problem(position, move)


def _placing_problem(position: HalvesPosition, move: HalvesMove) -> Text:
    if move.kept:
        return SAY("early")
    return SAY("cell", number=move.number, most=len(placeable_cells(position)))


def _tile_problem(position: HalvesPosition, number: int) -> Text | None:
    """Return what is wrong with the tile to be removed."""
    if missing := _missing_problem(position, number):
        return missing
    owner = next(s for s in range(len(position.colours)) if position.owned(s) >> number - 1 & 1)
    if owner != position.turn:
        return SAY("owner", number=number, other=owner, mover=position.turn)
    near = neighbours_of_cells(position.cells).neighbours[number - 1] & position.present
    free, needed = len(STEPS) - near.bit_count(), position.options.free_edges
    if free < needed:
        if free == 1:
            return SAY("edge", number=number, needed=needed)
        return SAY("edges", number=number, free=free, needed=needed)
    return None


def _missing_problem(position: HalvesPosition, number: int) -> Text | None:
    """Return the sentence on a number that no tile has, or None."""
    if number > len(position.cells):
        return SAY("tile", number=number, most=len(position.cells))
    if not position.present >> number - 1 & 1:
        return SAY("gone", number=number)
    return None


def _group_problem(position: HalvesPosition, move: HalvesMove) -> Text:
    """Return what is wrong with the group that is to survive."""
    groups = surviving_groups(position, move.number - 1)
    packed = packed_groups(groups)
    if not move.kept:
        return SAY("which", groups=packed, number=move.number)
    if move.kept == move.number:
        return SAY("removed", kept=move.kept)
    if missing := _missing_problem(position, move.kept):
        return missing
    if len(groups) > 1:
        return SAY("may", kept=move.kept, groups=packed, number=move.number)
    if position.options.keep is KeepRule.MOST_FRIENDLY:
        return SAY("friendly", kept=move.kept, groups=packed)
    return SAY("does", kept=move.kept, groups=packed)
