"""Get a Jump On, slowly and in names: every chain is walked, as written in the rules.

Shares nothing with the rules but the reference's board of lines. Stones are a set of names.
"""

from itertools import pairwise

from tests.games.pow2.reference import BOARD_LINES, NAMES

CORNERS = ["a1", "a13", "m1", "m13"]


def jumps_from(at):
    """Yield what can be jumped over from a place, and where the jump lands."""
    for line in BOARD_LINES:
        for one in (line, line[::-1]):
            if at in one and len(one) > one.index(at) + 2:
                yield one[one.index(at) + 1], one[one.index(at) + 2]


JUMPS = {at: list(jumps_from(at)) for at in NAMES}


def rank(chain):
    """Order chains: by length, then by the places in sorting order."""
    return len(chain), [NAMES.index(at) for at in chain]


def steps(stones, jumper):
    """Return the canonical step for every new stone and last landing."""
    best = {}
    for new, first in JUMPS[jumper]:
        if new in stones or first in stones:
            continue
        among = stones - {jumper} | {new}
        shortest = {first: [(first,)]}
        length = [(first,)]
        while length:
            longer = [
                (*chain, to)
                for chain in length
                for over, to in JUMPS[chain[-1]]
                if over in among and to not in among and to not in chain and to not in shortest
            ]
            for chain in longer:
                shortest.setdefault(chain[-1], []).append(chain)
            length = longer
        for last, equals in shortest.items():
            best[new, last] = min(equals, key=rank)
    return {f"{new}:{'-'.join(chain)}" for (new, _), chain in best.items()}


def takings(stones):
    """Return the canonical jump of part two for every set of stones left and last landing."""
    best = {}

    def walk(left, chain):
        for over, to in JUMPS[chain[-1]]:
            if over in left and to not in left and to not in chain[1:]:
                rest, further = left - {over}, (*chain, to)
                key = frozenset(rest), to
                best[key] = min(best.get(key, further), further, key=rank)
                walk(rest, further)

    for at in stones:
        walk(stones - {at}, (at,))
    return {"-".join(chain) for chain in best.values()}


def play_step(stones, jumper, text):
    """Return the stones and the jumper after a step."""
    new, _, chain = text.partition(":")
    last = chain.split("-")[-1]
    return stones - {jumper} | {new, last}, last


def play_taking(stones, text):
    """Return the stones after a jump of part two."""
    chain = text.split("-")
    left = stones - {chain[0]}
    for a, b in pairwise(chain):
        left = left - {over for over, to in JUMPS[a] if to == b}
    return left | {chain[-1]}


def legal(stones, jumper):
    """Return the legal moves but `done` of a match that began on a corner or by -solitaire."""
    if not stones:
        return set(CORNERS)
    return takings(stones) if jumper is None else steps(stones, jumper)
