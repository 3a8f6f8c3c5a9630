"""The engine's view of Go: whose part of the board is how large, and which moves are worth a look."""

from typing import Final

from domain.boards.points import Point, all_points, beside, parts
from domain.boards.sets import bits
from domain.game.engine import GameEngine, SearchMethod, Values
from domain.games.go.rules import (
    AGREE,
    BLACK,
    PASS,
    PROPOSE,
    RESUME,
    WHITE,
    GoPhase,
    GoPosition,
    GoRules,
    result,
)

RULES: Final = GoRules()

_STEPS: Final = 4
"""How far a stone makes itself felt."""
_POINT: Final = 0.012
"""The worth of a point."""
_IN_ATARI: Final = 0.8
"""The part of a chain in atari, and to be taken at once, that counts as lost already."""


def _reach(own: int, other: int, free: int) -> tuple[int, int]:
    """Return the empty points to which each player's stones are nearer, up to a few steps."""
    black, white = own, other
    for _ in range(_STEPS):
        more, less = beside(black) & free & ~white, beside(white) & free & ~black
        both = more & less
        black, white = black | more & ~both, white | less & ~both
        free &= ~(more | less)
    return black, white


def _weak(stones: int, empty: int) -> int:
    """Return how many stones are in chains with a single liberty."""
    return sum(
        chain.bit_count() for chain in parts(stones) if (beside(chain) & empty).bit_count() == 1
    )


def evaluate(position: GoPosition) -> Values:
    """Estimate the points of both players: the points that each is nearer to, without those in atari."""
    black, white = position.stones
    empty = all_points(position.size) & ~(black | white)
    if position.phase is GoPhase.COUNTING:
        winner, _ = result(position)
        return (0.99, 0.01) if winner == BLACK else (0.01, 0.99)
    near_black, near_white = _reach(black, white, empty)
    ahead = near_black.bit_count() - near_white.bit_count() - position.komi - 0.5
    # whose turn it is takes, so the other's chains in atari are as good as lost
    weak = -_weak(black, empty) if position.turn == WHITE else _weak(white, empty)
    share = min(max(0.5 + _POINT * (ahead + 2 * _IN_ATARI * weak), 0.01), 0.99)
    return share, 1 - share


def _is_eye(point: Point, own: int, board: int) -> bool:
    """Return whether all neighbours of a point are own stones."""
    return not beside(1 << point) & board & ~own


def candidates(position: GoPosition) -> list[Point]:
    """Return the moves that are no own eyes; `pass` only where it wins or nothing is left."""
    if position.phase is GoPhase.COUNTING:
        return [_answer(position)]
    own, _ = position.own_and_other
    board = all_points(position.size)
    moves = [
        move for move in RULES.moves(position) if move != PASS and not _is_eye(move, own, board)
    ]
    first = (
        ~board & -1
    )  # in an empty corner of the board nothing is decided yet: the edge comes last
    inner = board & ~_edge(position.size) if not position.black else first
    moves.sort(key=lambda move: not inner >> move & 1)
    wins = position.passed and result(position)[0] == position.turn
    return [PASS] if wins or not moves else moves


def _edge(size: int) -> int:
    board = all_points(size)
    return sum(1 << point for point in bits(board) if (beside(1 << point) & board).bit_count() < 4)  # noqa: PLR2004


def _answer(position: GoPosition) -> Point:
    """Agree if that wins, or if no own stone is marked; have play go on otherwise."""
    if not position.proposed:
        return PROPOSE
    own, _ = position.own_and_other
    fair = not position.marked & own or result(position)[0] == position.turn
    return AGREE if fair else RESUME


ENGINE: Final = GameEngine(evaluate, method=SearchMethod.ALPHA_BETA, candidates=candidates)
