"""What a position of One by One is worth, slowly and in names."""

from tests.games.line_puzzle_reference import numbers


def worth(stones):
    """Count the lines with exactly one stone, if none has more."""
    found = numbers(stones)
    return None if any(number > 1 for number in found) else found.count(1)
