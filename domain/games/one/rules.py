"""One by One: set stones so that as many lines as possible carry exactly one stone, none more.

1. Set stones on empty intersections of the Power of Two board, and take them back, as you like.
2. A position counts if no line carries more than one stone; other positions are allowed.
3. Score: the most lines with exactly one stone in any position of the match that counts.
4. Equal scores rank by the fewest stones.
5. `done` ends the match.

Notation: `a5` sets a stone, `-a5` takes it back, `done`.
"""

from typing import Final

from domain.boards.line_puzzle import LinePuzzle, stones_on_lines
from domain.boards.pow2_board import NAMES
from domain.sentences import Sentences

SAY: Final = Sentences(
    "one",
    {
        "limit": (
            "proven: 40 of the 44 lines at most, for which 12 stones are enough; "
            "13 stones are the fewest that touch every line when some may hold more"
        ),
    },
)


class OneRules(LinePuzzle):
    """One by One, version 1."""

    key = "one"
    title = "One by One"
    stone_limit = len(NAMES)
    most_points = 40
    wanted = 1
    limit = SAY("limit")

    def count_lines(self, stones: int) -> int:
        """Return the number of lines with exactly one stone; -1 if a line has more."""
        numbers = stones_on_lines(stones)
        return -1 if max(numbers) > 1 else sum(numbers)
