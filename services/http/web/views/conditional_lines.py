"""A player's conditional moves as lines, for the page of the match."""

from typing import Final
from urllib.parse import urlencode

import msgspec

from domain.match.conditional_moves import ConditionalMoves

_ANY: Final = "#"


class LineStep(msgspec.Struct, frozen=True):
    """A move of a line."""

    move: str
    own: bool
    """Whether it is the player's own, which the server plays."""
    shared: bool
    """Whether another line has it too."""


class ConditionalLine(msgspec.Struct, frozen=True):
    """Moves from the present position on, of which the player's own are conditional moves."""

    steps: tuple[LineStep, ...]
    begins: str
    """The beginning that no other line has, by which this one is dropped."""
    address: str
    """The page that shows where it leads; empty for a move at a later ply."""
    number: int = 0
    """The number of a move that is played whatever comes before it; otherwise 0."""


def conditional_lines(board: int, ply: int, stored: ConditionalMoves) -> list[ConditionalLine]:
    """Return the lines of a player's conditional moves in a match after so many moves."""
    own = {(*one.path[ply - one.first_ply :], one.move) for one in stored.moves if one.path}
    leaves = sorted(
        one for one in own if not any(other[: len(one)] == one != other for other in own)
    )
    later = sorted((one.ply, one.move) for one in stored.moves if one.path is None)
    next_turn = [one.move for one in stored.moves if one.next_turn]
    return [
        *(
            _line(board, ply, leaf, own, [other for other in leaves if other != leaf])
            for leaf in leaves
        ),
        *(
            ConditionalLine(
                (LineStep(move, own=True, shared=False),), f"{move}{_ANY}{at}", "", at + 1
            )
            for at, move in later
        ),
        *(
            ConditionalLine((LineStep(move, own=True, shared=False),), move, "")
            for move in next_turn
        ),
    ]


def _line(
    board: int,
    ply: int,
    leaf: tuple[str, ...],
    own: set[tuple[str, ...]],
    others: list[tuple[str, ...]],
) -> ConditionalLine:
    shared = max((_common(leaf, other) for other in others), default=0)
    steps = tuple(
        LineStep(move, own=leaf[: at + 1] in own, shared=at < shared)
        for at, move in enumerate(leaf)
    )
    query = urlencode({"line": " ".join(leaf)})
    return ConditionalLine(steps, " ".join(leaf[: shared + 1]), f"/m/{board}/{ply}/if?{query}")


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many moves two lines have in common at their beginning."""
    same = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        same += 1
    return same
