"""One by One, Two by Two and the cooperative That's My Line, slowly and in names.

Shares nothing with the rules but the reference's board of lines. Stones are sets of names.
"""

from tests.games.pow2.reference import BOARD_LINES, NAMES


def numbers(stones):
    """Give the number of stones on each line."""
    return [len([at for at in line if at in stones]) for line in BOARD_LINES]


def worth_one(stones):
    """Count the lines with exactly one stone, if none has more."""
    found = numbers(stones)
    return None if any(number > 1 for number in found) else found.count(1)


def worth_two(stones):
    """Count the lines with exactly two stones."""
    return numbers(stones).count(2)


def best(worth, history):
    """Give the most lines of all positions passed through, and the fewest stones for them."""
    found = [(worth(stones), -len(stones)) for stones in history if worth(stones) is not None]
    lines, stones = max(found)
    return lines, -stones


def placing(stones, limit):
    """Give the legal moves of one and two."""
    fresh = set(NAMES) - stones if len(stones) < limit else set()
    return fresh | {f"-{at}" for at in stones} | {"done"}


def places(own, other):
    """Give where a colour may be placed beside the other."""
    return {
        at
        for at in NAMES
        if at not in own | other
        and not any(at in line and set(line) & other for line in BOARD_LINES)
    }


def next_colour(stones, colour):
    """Give the colour after one was placed: the other, itself if that has no place, or None."""
    for one in (1 - colour, colour):
        if places(stones[one], stones[1 - one]):
            return one
    return None
