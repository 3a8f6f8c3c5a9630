"""What a position of Two by Two is worth, slowly and in names."""

from tests.games.line_puzzle_reference import numbers


def worth(stones):
    """Count the lines with exactly two stones."""
    return numbers(stones).count(2)
