"""The puzzles of setting stones on lines, slowly and in names.

Shares nothing with the rules but the reference's board of lines. Stones are sets of names.
"""

from tests.games.pow2.reference import BOARD_LINES, NAMES


def numbers(stones):
    """Return the number of stones on each line."""
    return [len([at for at in line if at in stones]) for line in BOARD_LINES]


def best(worth, history):
    """Return the most lines of all positions passed through, and the fewest stones for them."""
    found = [(worth(stones), -len(stones)) for stones in history if worth(stones) is not None]
    lines, stones = max(found)
    return lines, -stones


def placing(stones, limit):
    """Return the legal moves."""
    fresh = set(NAMES) - stones if len(stones) < limit else set()
    return fresh | {f"-{at}" for at in stones} | {"done"}
