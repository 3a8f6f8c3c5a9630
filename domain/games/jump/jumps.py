"""Chains of jumps in Get a Jump On.

In part one a chain of jumps moves only the jumper, so a breadth-first search finds the ends of all
chains. It is quick, and for each end it finds the shortest chain, of equals the first in sorting
order. In part two each jump removes a stone, and the next jumps depend on all before. So the search
follows each chain by itself, depth first and in sorting order; no chain is longer than the number
of stones.
"""

from collections.abc import Generator
from itertools import pairwise
from typing import Final

from domain.boards.pow2_board import JUMPS
from domain.boards.sets import bits

OVER: Final = tuple({to: over for to, over, _ in jumps} for jumps in JUMPS)
"""For each intersection, the landings of jumps, each with the set of the intersection jumped over."""


Chain = tuple[int, ...]
"""The landings of a stone, jump by jump; in part two its origin comes first."""


def chains(stones: int, landing: int) -> list[Chain]:
    """Return a chain to every intersection that the jumper can reach from its first landing.

    Each is the shortest, of equals the first in sorting order.
    """
    found: list[Chain] = [(landing,)]
    barred = stones | 1 << landing
    for chain in found:  # grows while it is walked
        for to, over, at in JUMPS[chain[-1]]:
            if stones & over and not barred & at:
                barred |= at
                found.append((*chain, to))
    return found


def jumps(
    stones: int, among: int, most: int | None = None
) -> Generator[tuple[int, Chain], None, bool]:
    """Yield every jump of part two that moves and removes only stones of `among`, in sorting order.

    Each is a pair: the stones left, without the jumping one, and the chain. Chains that leave the
    same stones and end on the same intersection are one move, written as the first of them. The
    search stops after `most` chains, if that is set, and returns whether there are others.
    """
    seen: set[tuple[int, int]] = set()
    walked = 0
    for origin in bits(among):
        walks: list[tuple[int, int, Chain]] = [(stones ^ 1 << origin, 0, (origin,))]
        while walks:
            if walked == most:
                return True
            walked += 1
            rest, landed, chain = walks.pop()
            last = chain[-1]
            if landed and (rest, last) not in seen:
                seen.add((rest, last))
                yield rest, chain
            barred = rest | landed
            walks += [
                (rest ^ over, landed | at, (*chain, to))
                for to, over, at in reversed(JUMPS[last])
                if rest & among & over and not barred & at
            ]
    return False


def can_jump(stones: int) -> bool:
    """Return whether any stone can jump."""
    return any(
        stones & over and not stones & landing
        for at in bits(stones)
        for _, over, landing in JUMPS[at]
    )


def jumped_over(chain: Chain) -> int:
    """Return the set of the stones that a chain jumps over."""
    over = 0
    for origin, landing in pairwise(chain):
        over |= OVER[origin][landing]
    return over
