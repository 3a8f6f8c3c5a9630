"""The evaluation of Halves: the tiles that are left, and how well a player can get rid of them."""

from collections.abc import Sequence
from typing import Final

from domain.boards.hexes import neighbours_of_cells
from domain.boards.sets import bits
from domain.game.engine import Budgets, GameEngine, SearchMethod, Slips, Values
from domain.games.halves.position import HalvesPosition

_TURN: Final = 0.5
"""A turn is worth half a tile, because the player to move is about to lose one."""
_NEIGHBOUR: Final = 0.07
"""The part of a tile that a neighbour is worth: tiles in the middle can separate others later."""
_ARTICULATION: Final = 0.2
"""The part of a tile that it is worth to own a tile whose removal may separate others now.

Only its owner can remove it, and does so when what falls off is mostly of the same colour.
"""
_FEWEST: Final = 0.1
"""The least worth of all tiles of a player, because the shares divide by it."""
_PLAYOUT_PLIES: Final = 400
"""A playout for three is played to the end: it decides better than the evaluation, which sees two
opponents as if they were one."""


def players(position: HalvesPosition) -> int:
    """Return the number of seats of the match, of which some may have left."""
    return len(position.colours)


def evaluate(position: HalvesPosition) -> Values:
    """Return each seat's share: the less its tiles weigh, the larger.

    With `-invert_win` the number of tiles alone counts, and more are better.
    """
    tiles, turn = position.tiles, position.turn
    owned = [tiles[colour] for colour in position.colours]
    if position.options.invert_win:
        worths = [float(own.bit_count()) for own in owned]
    else:
        worths = _lightness(position, owned, turn)
    for seat in range(len(owned)):
        if position.out >> seat & 1:
            worths[seat] = 0.0
    total = sum(worths)
    return tuple([worth / total for worth in worths])


def _lightness(position: HalvesPosition, owned: Sequence[int], turn: int) -> list[float]:
    """Return the reciprocal of the weight of each seat's tiles."""
    shape, present = neighbours_of_cells(position.cells), position.present
    near, parts = shape.neighbours, shape.parts
    found = []
    for seat, own in enumerate(owned):
        weight = own.bit_count() - _TURN * (seat == turn)
        for tile in bits(own):
            beside = near[tile] & present
            weight -= _NEIGHBOUR * beside.bit_count() + _ARTICULATION * (parts[tile][beside] > 1)
        found.append(1 / max(weight, _FEWEST))
    return found


ENGINE: Final = GameEngine(
    evaluate,
    SearchMethod.ALPHA_BETA,
    playout_plies=_PLAYOUT_PLIES,
    players=players,
    # more nodes alone make the lower levels as good as `robot-hard` where the sides decide, so they slip
    budgets=Budgets(200, 400, 36_000),
    slips=Slips(easy=15, medium=5),
)
