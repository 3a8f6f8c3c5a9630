"""Why a move of Get a Jump On is illegal: one sentence that names the rule and the places."""

from itertools import pairwise

from domain.boards.pow2_board import ADJACENT, JUMPS
from domain.game.puzzle import SOLVER_IS_DONE as DONE_ALREADY
from domain.games.jump.jumps import OVER
from domain.games.jump.position import CORNERS, NOBODY, STONES, JumpMove, JumpPosition, is_over
from domain.games.jump.sentences import SAY
from domain.sentences import Text


def why_illegal(position: JumpPosition, move: JumpMove) -> Text | None:
    """Return which rule a move breaks, and where; None for a valid move."""
    if position.done:
        return DONE_ALREADY
    if is_over(position):
        return SAY("over-2") if position.is_part_two else SAY("over")
    if not move.chain:
        return None
    if not position.stones:
        return _corner_problem(move)
    if position.is_part_two:
        return _jump_problem(position, move)
    return _step_problem(position, move)


def _corner_problem(move: JumpMove) -> Text | None:
    if move.new == NOBODY and len(move.chain) == 1:
        if move.chain[0] in CORNERS:
            return None
        return SAY("corner")
    return SAY("first")


def _step_problem(position: JumpPosition, move: JumpMove) -> Text | None:
    jumper, new = position.jumper, move.new
    if new == NOBODY:
        return SAY("step", stones=STONES, jumper=jumper)
    if position.stones >> new & 1:
        return SAY("taken", at=new)
    if not ADJACENT[jumper] >> new & 1:
        return SAY("away", at=new, jumper=jumper)
    rest = position.stones ^ 1 << jumper | 1 << new
    return _first_problem(move, jumper) or _chain_problem(rest, (jumper, *move.chain), taking=False)


def _first_problem(move: JumpMove, jumper: int) -> Text | None:
    """Return why the first jump doesn't land behind the new stone."""
    behind = [to for to, over, _ in JUMPS[jumper] if over == 1 << move.new]
    new, landing = move.new, move.chain[0]
    if not behind:
        return SAY("end", jumper=jumper, at=new)
    if behind[0] != landing:
        return SAY("lands", at=new, behind=behind[0], landing=landing)
    return None


def _jump_problem(position: JumpPosition, move: JumpMove) -> Text | None:
    if move.new != NOBODY or len(move.chain) == 1:
        return SAY("jump")
    origin = move.chain[0]
    if not position.stones >> origin & 1:
        return SAY("none", at=origin)
    return _chain_problem(position.stones ^ 1 << origin, move.chain, taking=True)


def _chain_problem(stones: int, chain: tuple[int, ...], *, taking: bool) -> Text | None:
    """Return why a chain of jumps is impossible; `stones` are all but the jumping one."""
    landed = 0
    for a, b in pairwise(chain):
        over = OVER[a].get(b)
        if over is None:
            return SAY("line", here=a, there=b)
        if not stones & over:
            return SAY("over-none", between=over.bit_length() - 1, here=a, there=b)
        if stones >> b & 1:
            return SAY("landing", there=b)
        if landed >> b & 1:
            return SAY("twice", there=b)
        landed |= 1 << b
        if taking:
            stones ^= over
    return None
