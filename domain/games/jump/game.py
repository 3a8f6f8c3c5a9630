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
from typing import Annotated, Any, Final

import msgspec

from domain.boards.pow2_board import INDEX, NAMES, intersection, stones_json
from domain.game.protocol import GameOutcome, PuzzleScore, Seat, illegal_move, unreadable_move
from domain.game.puzzle import DONE, Ending, Puzzle, solver_outcome
from domain.games.jump.illegal import why_illegal
from domain.games.jump.position import (
    FINISH,
    NOBODY,
    STONES,
    JumpMove,
    JumpPosition,
    canonical,
    first_moves,
    is_over,
    moves,
    play,
)
from domain.games.jump.sentences import SAY

FORM: Final = SAY("form")
MARK: Final = SAY("mark")


class JumpOptions(msgspec.Struct, frozen=True):
    """The options of a match."""

    solitaire: Annotated[
        tuple[str, ...],
        msgspec.Meta(min_length=2, max_length=STONES, extra={"names": NAMES}),
    ] = ()
    """The stones to begin part two with."""


def _read(text: str) -> JumpMove:
    word = "".join(text.split()).lower()
    if not text.isascii() or not word:
        raise unreadable_move(text, FORM)
    if word == DONE:
        return FINISH
    new, colon, landings = word.rpartition(":")
    chain = tuple([intersection(name, FORM) for name in landings.split("-")])
    return JumpMove(intersection(new, FORM) if colon else NOBODY, chain)


def _write(move: JumpMove) -> str:
    if not move.chain:
        return DONE
    chain = "-".join(NAMES[at] for at in move.chain)
    return chain if move.new == NOBODY else f"{NAMES[move.new]}:{chain}"


def _sort_moves(found: list[JumpMove]) -> list[JumpMove]:
    """Sort moves by the new stone and the chain; the last one stays last."""
    return sorted(found[:-1], key=lambda move: (move.new, move.chain)) + found[-1:]


def _score(position: JumpPosition) -> PuzzleScore:
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


class JumpRules(Puzzle[JumpPosition, JumpMove, JumpOptions]):
    """Get a Jump On, version 1."""

    key = "jump"
    title = "Get a Jump On"
    has_one_spelling: bool = False
    position_type = JumpPosition
    options_type = JumpOptions
    moves = staticmethod(moves)
    read = staticmethod(_read)
    write = staticmethod(_write)
    play = staticmethod(play)
    score = staticmethod(_score)
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
        return map(_write, _sort_moves(moves(position)))

    def first_moves(self, position: JumpPosition, most: int) -> tuple[list[str], bool]:
        """Return the legal moves among the first `most` chains of jumps, and whether there are others.

        Pages list moves by it; no rule depends on it.
        """
        found, more = first_moves(position, most)
        return list(map(_write, _sort_moves(found))), more

    def check(self, position: JumpPosition, move: JumpMove) -> JumpMove:
        """Return a legal move with its canonical chain, or raise `IllegalMove`."""
        if reason := why_illegal(position, move):
            raise illegal_move(_write(move), reason)
        return canonical(position, move)

    def outcome(self, position: JumpPosition) -> GameOutcome | None:
        """Return the ending: the solver is done, or no step or jump is possible."""
        if not is_over(position):
            return None
        return solver_outcome(Ending.DONE if position.done else Ending.NO_MOVE, _score(position))

    def to_json(self, position: JumpPosition) -> dict[str, Any]:
        """Return the stones (`O` is the jumper), the plies of part two, and whether the solver is done."""
        board = stones_json(position.stones)
        if position.jumper != NOBODY:
            board[NAMES[position.jumper]] = "O"
        return {"board": board, "plies": position.plies, "done": position.done}
