"""Why a move of Halves is illegal: one sentence that names the rule and the tiles."""

from typing import Final

from domain.boards.hexes import STEPS, bits, neighbours_of_cells
from domain.games.halves.position import (
    OVER,
    SIDES,
    HalvesMove,
    HalvesPhase,
    HalvesPosition,
    KeepRule,
    lowest_number,
    outcome,
    placeable_cells,
    surviving_groups,
)

FORM: Final = (
    "a move is a number, as 3, or two, as 4,2 (remove 4, keep the group of 2), or keep or swap"
)


def why_illegal(position: HalvesPosition, move: HalvesMove) -> str:
    """Return which rule an illegal move breaks, and where."""
    if position.turn == OVER:
        ending = outcome(position)
        assert ending is not None
        return f"the match is over: {ending.detail}"
    if position.phase is HalvesPhase.CONTRACT:
        return f"{SIDES[position.turn]} first says keep or swap, for the colours"
    if not move.number:
        return "keep and swap are for the contract, and none is due"
    if position.phase is HalvesPhase.GROW:
        return _placing_problem(position, move)
    return _tile_problem(position, move.number) or _group_problem(position, move)


def _placing_problem(position: HalvesPosition, move: HalvesMove) -> str:
    if move.kept:
        return "while tiles are placed a move is one number, that of a cell; groups come later"
    return (
        f"there is no cell {move.number}; they are numbered 1 to {len(placeable_cells(position))}"
    )


def _tile_problem(position: HalvesPosition, number: int) -> str | None:
    """Return what is wrong with the tile to be removed."""
    if missing := _missing_problem(position, number):
        return missing
    owner = next(s for s in range(len(position.colours)) if position.owned(s) >> number - 1 & 1)
    if owner != position.turn:
        return f"tile {number} is {SIDES[owner]}'s, and it is {SIDES[position.turn]}'s turn"
    near = neighbours_of_cells(position.cells).neighbours[number - 1] & position.present
    free, needed = len(STEPS) - near.bit_count(), position.options.free_edges
    if free < needed:
        edges = "free edge" if free == 1 else "free edges"
        return f"tile {number} has {free} {edges}, and needs {needed} to be removed (-free_edges)"
    return None


def _missing_problem(position: HalvesPosition, number: int) -> str | None:
    """Return the sentence on a number that no tile has, or None."""
    if number > len(position.cells):
        return f"there is no tile {number}; they are numbered 1 to {len(position.cells)}"
    if not position.present >> number - 1 & 1:
        return f"tile {number} has gone already"
    return None


def _group_problem(position: HalvesPosition, move: HalvesMove) -> str:
    """Return what is wrong with the group that is to survive."""
    groups = surviving_groups(position, move.number - 1)
    example = f"such as {move.number},{lowest_number(groups[0])}"
    if not move.kept:
        listed = " or ".join(_group_text(group) for group in groups)
        return f"you choose which group survives, {listed}; name a tile of it, {example}"
    if move.kept == move.number:
        return f"tile {move.kept} is the one removed; name one of the group that is kept"
    if missing := _missing_problem(position, move.kept):
        return missing
    lost = f"the group of tile {move.kept} does not survive"
    if len(groups) > 1:
        return f"{lost}; {' or '.join(_group_text(group) for group in groups)} may, {example}"
    rule = "most of your tiles" if position.options.keep is KeepRule.MOST_FRIENDLY else "most tiles"
    return f"{lost}; {_group_text(groups[0])} does, with the {rule}"


def _group_text(group: int) -> str:
    """Return a group by its tiles, at most five of them, as `{1 3 5}`."""
    numbers = [tile + 1 for tile in bits(group)]
    shown = " ".join(map(str, numbers[:5]))
    return f"{{{shown}{' ...' if len(numbers) > 5 else ''}}}"  # noqa: PLR2004 - enough to tell
