"""The cooperative That's My Line, slowly and in names.

Shares nothing with the rules but the reference's board of lines. Stones are sets of names.
"""

from tests.games.pow2.reference import BOARD_LINES, NAMES


def places(own, other):
    """Return where a colour may be placed beside the other."""
    return {
        at
        for at in NAMES
        if at not in own | other
        and not any(at in line and set(line) & other for line in BOARD_LINES)
    }


def next_colour(stones, colour):
    """Return the colour after one was placed: the other, itself if that has no place, or None."""
    for one in (1 - colour, colour):
        if places(stones[one], stones[1 - one]):
            return one
    return None
