"""Get a Jump On: set stones and jump over them, then remove them by jumping, down to one.

1. The first stone, the jumper, is set on a corner of the Power of Two board.
2. A step sets a new stone next to the jumper, which jumps over it along a line to the next
   intersection, which is empty. More jumps may follow, none landing on a place of this chain.
3. With the 32nd stone part two begins (with `-solitaire=a1,b4,...` at once, with those stones):
   any stone jumps and removes the stones that it jumps over.
4. The match ends when no step or jump is possible, or with `done`.
5. Score: the stones set; then the fewest stones left, by the fewest plies of part two.

Notation: `a1` (the corner), `c3:d4`, `e3:d4-g1` (steps), `a1-a7`, `a1-a7-a13` (part two), `done`.
Chains with the same result are one move: the shortest, of equals the first in sorting order.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final

import msgspec

from domain.boards.pow2_board import ADJACENT, INDEX, JUMPS, NAMES, intersection, stones_json
from domain.game.protocol import GameOutcome, PuzzleScore, Seat, illegal_move, unreadable_move
from domain.game.puzzle import DONE, SOLVER_IS_DONE, Ending, Puzzle, solver_outcome
from domain.games.jump.jumps import OVER, Chain, can_jump, chains, jumped_over, jumps
from domain.games.jump.sentences import SAY
from domain.sentences import Text

STONES: Final = 32
"""The number of stones; setting the last one begins part two."""
NOBODY: Final = len(NAMES)
"""Stands for no jumper: in part two, in which any stone jumps, and before the first stone."""
CORNERS: Final = tuple(INDEX[name] for name in ("a1", "a13", "m1", "m13"))
FORM: Final = SAY("form")
MARK: Final = SAY("mark")


class JumpOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    solitaire: Annotated[
        tuple[str, ...],
        msgspec.Meta(min_length=2, max_length=STONES, extra={"names": NAMES}),
    ] = ()
    """The stones to begin part two with."""


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


def _sort_moves(found: list[JumpMove]) -> list[JumpMove]:
    """Sort moves by the new stone and the chain; the last one stays last."""
    return sorted(found[:-1], key=lambda move: (move.new, move.chain)) + found[-1:]


def why_illegal(position: JumpPosition, move: JumpMove) -> Text | None:
    """Return which rule a move breaks, and where; None for a valid move."""
    if position.done:
        return SOLVER_IS_DONE
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


class JumpRules(Puzzle[JumpPosition, JumpMove, JumpOptions]):
    """Get a Jump On, version 1."""

    key = "jump"
    title = "Get a Jump On"
    has_one_spelling: bool = False
    position_type = JumpPosition
    options_type = JumpOptions
    moves = staticmethod(moves)
    most_points = 2 * STONES - 1

    def points(self, rank: Sequence[int]) -> int:
        """Return how many stones were set, and then removed."""
        placed = -rank[0]
        return placed + STONES - rank[1] if placed == STONES else placed

    def start(self, options: JumpOptions, players: int, setup: object | None) -> JumpPosition:
        """Return the empty board, or that of `-solitaire`."""
        self.check_start(players, setup)
        stones = sum(1 << INDEX[name] for name in options.solitaire)
        return JumpPosition(stones, NOBODY, 0, len(options.solitaire), done=False)

    def to_move(self, position: JumpPosition) -> Seat | None:
        """Return the solver's seat until the match is over."""
        return None if is_over(position) else 0

    def legal_moves(self, position: JumpPosition) -> Iterator[str]:
        """Yield every legal move by the new stone and the chain, in sorting order; `done` last."""
        return map(self.write, _sort_moves(moves(position)))

    def first_moves(self, position: JumpPosition, most: int) -> tuple[list[str], bool]:
        """Return the legal moves among the first `most` chains of jumps, and whether there are others.

        Pages list moves by it; no rule depends on it.
        """
        found, more = first_moves(position, most)
        return list(map(self.write, _sort_moves(found))), more

    def read(self, text: str) -> JumpMove:
        """Read landings with hyphens, behind the new stone and a colon if one is set; or `done`."""
        word = "".join(text.split()).lower()
        if not text.isascii() or not word:
            raise unreadable_move(text, FORM)
        if word == DONE:
            return FINISH
        new, colon, landings = word.rpartition(":")
        chain = tuple([intersection(name, FORM) for name in landings.split("-")])
        return JumpMove(intersection(new, FORM) if colon else NOBODY, chain)

    def write(self, move: JumpMove) -> str:
        """Return the canonical text of a move."""
        if not move.chain:
            return DONE
        chain = "-".join(NAMES[at] for at in move.chain)
        return chain if move.new == NOBODY else f"{NAMES[move.new]}:{chain}"

    def check(self, position: JumpPosition, move: JumpMove) -> JumpMove:
        """Return a legal move with its canonical chain, or raise `IllegalMove`."""
        if reason := why_illegal(position, move):
            raise illegal_move(self.write(move), reason)
        return canonical(position, move)

    def play(self, position: JumpPosition, move: JumpMove) -> JumpPosition:
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

    def outcome(self, position: JumpPosition) -> GameOutcome | None:
        """Return the ending: the solver is done, or no step or jump is possible."""
        if not is_over(position):
            return None
        return solver_outcome(
            Ending.DONE if position.done else Ending.NO_MOVE, self.score(position)
        )

    def score(self, position: JumpPosition) -> PuzzleScore:
        """Return the score of a position; no later one is worse.

        The stones set by jumping count first. Those of `-solitaire` were not set by jumping.
        """
        left, plies = position.stones.bit_count(), position.plies
        if solitaire := position.solitaire_stones:
            said = SAY("of", left=left, stones=solitaire, plies=plies)
            return PuzzleScore((0, left, plies), said, MARK)
        if not position.is_part_two:
            return PuzzleScore((-left, left, 0), SAY("set", stones=left), MARK)
        said = SAY("all", stones=STONES, left=left, plies=plies)
        return PuzzleScore((-STONES, left, plies), said, MARK)

    def to_json(self, position: JumpPosition) -> dict[str, Any]:
        """Return the stones (`O` is the jumper), the plies of part two, and whether the solver is done."""
        board = stones_json(position.stones)
        if position.jumper != NOBODY:
            board[NAMES[position.jumper]] = "O"
        return {"board": board, "plies": position.plies, "done": position.done}
