"""Positions and moves of Get a Jump On."""

from typing import Final

import msgspec

from domain.boards.pow2_board import INDEX, JUMPS, NAMES
from domain.games.jump.jumps import Chain, can_jump, chains, jumped_over, jumps

STONES: Final = 32
"""The number of stones; setting the last one begins part two."""
NOBODY: Final = len(NAMES)
"""Stands for no jumper: in part two, in which any stone jumps, and before the first stone."""
CORNERS: Final = tuple(INDEX[name] for name in ("a1", "a13", "m1", "m13"))


class JumpPosition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stones, the jumper, and the progress of part two."""

    stones: int
    jumper: int
    plies: int
    """The number of plies of part two."""
    solitaire_stones: int
    """The number of stones of `-solitaire`; 0 without it."""
    done: bool

    @property
    def is_part_two(self) -> bool:
        """Whether part two has begun."""
        return self.jumper == NOBODY and self.stones != 0


class JumpMove(msgspec.Struct, frozen=True, gc=False):
    """A corner, a step, a jump of part two, or being done.

    A step has the new stone and the landings. A jump has `NOBODY` as the new stone, and its origin
    and landings as the chain. A corner is a chain of one; being done is an empty chain.
    """

    new: int
    chain: Chain


FINISH: Final = JumpMove(NOBODY, ())
_FIRST: Final = tuple(JumpMove(NOBODY, (corner,)) for corner in CORNERS)


def steps(position: JumpPosition) -> list[JumpMove]:
    """Return every step of part one."""
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
    """Return whether there is a step."""
    stones = position.stones
    return any(not stones & (over | at) for _, over, at in JUMPS[position.jumper])


def is_over(position: JumpPosition) -> bool:
    """Return whether the solver is done, or no stone can be set or jumped."""
    if position.done or not position.stones:
        return position.done
    return not (can_jump(position.stones) if position.is_part_two else can_step(position))


def moves(position: JumpPosition) -> list[JumpMove]:
    """Return every legal move once."""
    if is_over(position):
        return []
    if not position.stones:
        return [*_FIRST, FINISH]
    if not position.is_part_two:
        return [*steps(position), FINISH]
    stones = position.stones
    return [*(JumpMove(NOBODY, chain) for _, chain in jumps(stones, stones)), FINISH]


def first_moves(position: JumpPosition, most: int) -> tuple[list[JumpMove], bool]:
    """Return legal moves, `FINISH` last, and whether there are others.

    Of part two they are the moves among the first `most` chains, because a full board has very many.
    """
    if not position.is_part_two or is_over(position):
        return moves(position), False
    found, walk = [], jumps(position.stones, position.stones, most)
    while True:
        try:
            found.append(JumpMove(NOBODY, next(walk)[1]))
        except StopIteration as end:
            return [*found, FINISH], bool(end.value)


def canonical(position: JumpPosition, move: JumpMove) -> JumpMove:
    """Return a valid move with its canonical chain."""
    *_, last = move.chain or (NOBODY,)
    stones = position.stones
    if position.is_part_two and move.chain:
        among = jumped_over(move.chain) | 1 << move.chain[0]
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
    stones, plies, solitaire = position.stones, position.plies, position.solitaire_stones
    if not move.chain:
        return JumpPosition(stones, position.jumper, plies, solitaire, done=True)
    last = move.chain[-1]
    if position.is_part_two:
        rest = stones & ~jumped_over(move.chain) ^ 1 << move.chain[0]
        return JumpPosition(rest | 1 << last, NOBODY, plies + 1, solitaire, done=False)
    if stones:
        stones = stones ^ 1 << position.jumper | 1 << move.new
    stones |= 1 << last
    jumper = NOBODY if stones.bit_count() == STONES else last
    return JumpPosition(stones, jumper, 0, 0, done=False)
