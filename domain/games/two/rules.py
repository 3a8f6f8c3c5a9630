"""Two by Two: set stones so that as many lines as possible carry exactly two stones.

1. Set up to 32 stones on empty intersections of the Power of Two board, and take them back.
2. Score: the most lines with exactly two stones in any position of the match.
3. Lines with fewer or more stones don't count, and do no harm.
4. Equal scores rank by the fewest stones.
5. `done` ends the match.

Notation: `a5` sets a stone, `-a5` takes it back, `done`.
"""

from typing import Final

from domain.boards.line_puzzle import LinePuzzle, stones_on_lines
from domain.sentences import Sentences

_WANTED: Final = 2
SAY: Final = Sentences(
    "two",
    {
        "limit": (
            "proven: 38 at most (25 stones), 37 when no line may hold more than two (25 stones); "
            "the booklet's target: 21"
        ),
    },
)


class TwoRules(LinePuzzle):
    """Two by Two, version 1."""

    key = "two"
    title = "Two by Two"
    stone_limit = 32
    most_points = 38
    wanted = _WANTED
    limit = SAY("limit")

    def count_lines(self, stones: int) -> int:
        """Return the number of lines with exactly two stones."""
        return stones_on_lines(stones).count(_WANTED)
