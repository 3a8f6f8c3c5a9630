"""Baseline of the rules: python-chess, used as its own examples use it."""

import random
import time
from typing import Any, Final

import chess

from bench.workload import SEED

_DEPTH: Final = 4


def perft_rate() -> tuple[int, float]:
    """Return the number of leaves below the first position, and leaves a second."""
    board = chess.Board()
    began = time.perf_counter()
    leaves = _perft(board, _DEPTH)
    return leaves, leaves / (time.perf_counter() - began)


def _perft(board: Any, depth: int) -> int:
    if depth == 1:
        return int(board.legal_moves.count())
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += _perft(board, depth - 1)
        board.pop()
    return leaves


def random_rate(plies: int) -> tuple[int, float]:
    """Return the number of random plies played, and plies a second."""
    chance = random.Random(SEED)  # noqa: S311 - a workload, not a secret
    played = 0
    began = time.perf_counter()
    while played < plies:
        board = chess.Board()
        while played < plies and board.outcome() is None:
            board.push(chance.choice(list(board.legal_moves)))
            played += 1
    return played, played / (time.perf_counter() - began)
