"""Why a move of Get a Jump On is illegal: one sentence that names the rule and the places."""

from itertools import pairwise

from domain.boards.pow2_board import ADJACENT, JUMPS, NAMES
from domain.games.jump.jumps import OVER
from domain.games.jump.position import CORNERS, NOBODY, STONES, JumpMove, JumpPosition, is_over
from domain.rules.puzzle import SOLVER_IS_DONE as DONE_ALREADY


def why_illegal(position: JumpPosition, move: JumpMove) -> str | None:
    """Return which rule a move breaks, and where; None for a valid move."""
    if position.done:
        return DONE_ALREADY
    if is_over(position):
        part = "no stone can jump" if position.is_part_two else "no stone can be set and jumped"
        return f"the match is over: {part} any more"
    if not move.chain:
        return None
    if not position.stones:
        return _corner_problem(move)
    if position.is_part_two:
        return _jump_problem(position, move)
    return _step_problem(position, move)


def _corner_problem(move: JumpMove) -> str | None:
    if move.new == NOBODY and len(move.chain) == 1:
        if move.chain[0] in CORNERS:
            return None
        return "the first stone is set on a corner: a1, a13, m1 or m13"
    return "first name the corner on which the first stone is set: a1, a13, m1 or m13"


def _step_problem(position: JumpPosition, move: JumpMove) -> str | None:
    jumper, new = position.jumper, move.new
    if new == NOBODY:
        return (
            f"each step sets a new stone until all {STONES} are set, and the jumper at "
            f"{NAMES[jumper]} jumps over it; it is written c3:d4"
        )
    name = NAMES[new]
    if position.stones >> new & 1:
        return f"{name} is occupied; a new stone is set on an empty intersection"
    if not ADJACENT[jumper] >> new & 1:
        return f"{name} is not adjacent to the jumper at {NAMES[jumper]}"
    rest = position.stones ^ 1 << jumper | 1 << new
    return _first_problem(move, jumper) or _chain_problem(rest, (jumper, *move.chain), taking=False)


def _first_problem(move: JumpMove, jumper: int) -> str | None:
    """Return why the first jump doesn't land behind the new stone."""
    behind = [to for to, over, _ in JUMPS[jumper] if over == 1 << move.new]
    new, landing = NAMES[move.new], move.chain[0]
    if not behind:
        return f"the line from {NAMES[jumper]} ends at {new}, so it can't be jumped over"
    if behind[0] != landing:
        return f"a jump over {new} lands on {NAMES[behind[0]]}, not on {NAMES[landing]}"
    return None


def _jump_problem(position: JumpPosition, move: JumpMove) -> str | None:
    if move.new != NOBODY or len(move.chain) == 1:
        return "no more stones are set; a stone jumps and takes, which is written a1-a7"
    origin = move.chain[0]
    if not position.stones >> origin & 1:
        return f"there is no stone at {NAMES[origin]}"
    return _chain_problem(position.stones ^ 1 << origin, move.chain, taking=True)


def _chain_problem(stones: int, chain: tuple[int, ...], *, taking: bool) -> str | None:
    """Return why a chain of jumps is impossible; `stones` are all but the jumping one."""
    landed = 0
    for a, b in pairwise(chain):
        here, there, over = NAMES[a], NAMES[b], OVER[a].get(b)
        if over is None:
            return f"no line leads from {here} over one intersection to {there}"
        if not stones & over:
            between = NAMES[over.bit_length() - 1]
            return f"there is no stone at {between} to jump over from {here} to {there}"
        if stones >> b & 1:
            return f"{there} is occupied; a jump lands on an empty intersection"
        if landed >> b & 1:
            return f"{there} is landed on twice in one chain"
        landed |= 1 << b
        if taking:
            stones ^= over
    return None
