"""Positions and moves of Get a Jump On: which stones can be set and jumped, and what it does.

In part one a chain of jumps changes no stone but the jumper, so its ends are found breadth first:
that is quick, and what is found first is the shortest chain and of equals the first in sorting
order. In part two each jump takes a stone off and what may follow depends on all before, so the
chains are walked one by one, in sorting order; none is longer than there are stones.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import msgspec

from domain.boards.pow2_board import INDEX, JUMPS, NAMES, bits

STONES: Final = 32
"""As many as there are; setting the last one begins part two."""
NOBODY: Final = len(NAMES)
"""The jumper in part two, in which any stone jumps, and before the first stone is set."""
CORNERS: Final = tuple(INDEX[name] for name in ("a1", "a13", "m1", "m13"))
OVER: Final = tuple({to: over for to, over, _ in jumps} for jumps in JUMPS)
"""For each intersection, where a jump can land, with the set of what it jumps over."""


Chain = tuple[int, ...]
"""Where a stone lands, jump by jump; in part two, where it stands first."""


class JumpPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones, which of them is the jumper, and how far part two has come."""

    stones: int
    jumper: int
    plies: int
    """The plies of part two."""
    given: int
    """How many stones `-solitaire` began with; 0 without it."""
    done: bool

    @property
    def taking(self) -> bool:
        """Whether part two has begun."""
        return self.jumper == NOBODY and self.stones != 0


class JumpMove(msgspec.Struct, frozen=True, gc=False):
    """A corner, a step, a jump of part two, or being done.

    A step names the new stone and the landings, a jump (with `NOBODY` for the new stone) its
    origin and the landings; a corner is a chain of one, being done an empty one.
    """

    new: int
    chain: Chain


FINISH: Final = JumpMove(NOBODY, ())
_FIRST: Final = tuple(JumpMove(NOBODY, (corner,)) for corner in CORNERS)


def chains(stones: int, landing: int) -> list[Chain]:
    """Give a chain to every intersection that can be reached, the first landing being done.

    Of each the shortest, and of equals the first in sorting order.
    """
    found: list[Chain] = [(landing,)]
    barred = stones | 1 << landing
    for chain in found:  # grows while it is walked
        for to, over, at in JUMPS[chain[-1]]:
            if stones & over and not barred & at:
                barred |= at
                found.append((*chain, to))
    return found


def steps(position: JumpPosition) -> list[JumpMove]:
    """Give every step of part one."""
    stones, origin = position.stones, position.jumper
    rest = stones ^ 1 << origin
    return [
        JumpMove(new, chain)
        for to, over, at in JUMPS[origin]
        if not stones & (over | at)
        for new in (over.bit_length() - 1,)
        for chain in chains(rest | over, to)
    ]


def can_step(position: JumpPosition) -> bool:
    """Tell whether there is a step."""
    stones = position.stones
    return any(not stones & (over | at) for _, over, at in JUMPS[position.jumper])


def jumps(stones: int, among: int) -> Iterator[tuple[int, Chain]]:
    """Yield every jump of part two that moves and takes stones of `among` alone, in sorting order.

    Each is the stones that are left, without the jumping one, and the chain. Chains that leave
    the same stones and end on the same intersection are one move, written as the first of them.
    """
    seen: set[tuple[int, int]] = set()
    for origin in bits(among):
        walks: list[tuple[int, int, Chain]] = [(stones ^ 1 << origin, 0, (origin,))]
        while walks:
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


def can_jump(stones: int) -> bool:
    """Tell whether any stone can jump."""
    return any(
        stones & over and not stones & landing
        for at in bits(stones)
        for _, over, landing in JUMPS[at]
    )


def is_over(position: JumpPosition) -> bool:
    """Tell whether the solver is done, or no stone can be set or jumped."""
    if position.done or not position.stones:
        return position.done
    return not (can_jump(position.stones) if position.taking else can_step(position))


def moves(position: JumpPosition) -> list[JumpMove]:
    """Give every legal move once."""
    if is_over(position):
        return []
    if not position.stones:
        return [*_FIRST, FINISH]
    if not position.taking:
        return [*steps(position), FINISH]
    stones = position.stones
    return [*(JumpMove(NOBODY, chain) for _, chain in jumps(stones, stones)), FINISH]


def taken(chain: Chain) -> int:
    """Give the set of what a chain jumps over."""
    over = 0
    for origin, landing in pairwise(chain):
        over |= OVER[origin][landing]
    return over


def canonical(position: JumpPosition, move: JumpMove) -> JumpMove:
    """Give the move by its canonical chain; the given one is valid."""
    *_, last = move.chain or (NOBODY,)
    stones = position.stones
    if position.taking and move.chain:
        among = taken(move.chain) | 1 << move.chain[0]
        left = stones & ~among
        return next(
            JumpMove(NOBODY, chain)
            for rest, chain in jumps(stones, among)
            if rest == left and chain[-1] == last
        )
    if move.new == NOBODY:
        return move
    found = chains(stones ^ 1 << position.jumper | 1 << move.new, move.chain[0])
    return next(JumpMove(move.new, chain) for chain in found if chain[-1] == last)


def play(position: JumpPosition, move: JumpMove) -> JumpPosition:
    """Apply a legal move."""
    stones, plies, given = position.stones, position.plies, position.given
    if not move.chain:
        return JumpPosition(stones, position.jumper, plies, given, done=True)
    last = move.chain[-1]
    if position.taking:
        rest = stones & ~taken(move.chain) ^ 1 << move.chain[0]
        return JumpPosition(rest | 1 << last, NOBODY, plies + 1, given, done=False)
    if stones:
        stones = stones ^ 1 << position.jumper | 1 << move.new
    stones |= 1 << last
    jumper = NOBODY if stones.bit_count() == STONES else last
    return JumpPosition(stones, jumper, 0, 0, done=False)
