"""The move that a robot chooses.

A robot has no state and no clock: its move follows from the position, its level and a seed.
"""

from hashlib import sha256
from typing import Any

import msgspec

from domain.engine.model import GameModel, engine_of
from domain.engine.search import Evaluation, evaluate
from domain.game.engine import RobotLevel
from domain.game.protocol import AnyRules
from domain.random_numbers import RandomNumbers


def match_seed(board: int, rules_name: str, setup: object | None, ply: int) -> bytes:
    """Return the seed of a robot's move, from what everybody can read of the match."""
    terms = (board, rules_name, setup, ply)
    return sha256(msgspec.json.encode(terms, order="deterministic")).digest()


def choose_move(rules: AnyRules, position: Any, level: RobotLevel, seed: bytes) -> str:
    """Return the canonical text of the move of a robot of this level.

    Raises `ValueError` if nobody is to move.
    """
    return search_move(rules, position, level, seed).line[0]


def search_move(rules: AnyRules, position: Any, level: RobotLevel, seed: bytes) -> Evaluation:
    """Return the search by which a robot of this level chooses its move, the first of the line.

    Raises `ValueError` if nobody is to move.
    """
    engine = engine_of(rules)
    found = evaluate(rules, position, engine.budgets.of(level), seed)
    if not found.line:
        raise ValueError(f"nobody is to move in {position!r}")
    numbers = RandomNumbers(seed)
    if numbers.below(100) < engine.slips.of(level):
        moves = GameModel(rules, position).moves(position)
        return Evaluation(found.values, (rules.write(numbers.choice(moves)),), found.nodes)
    return found
