"""The analysis of a match: the engine's evaluation of each of its positions.

It follows from the match alone, so it can be made again at any time. It is made position by position, the
first one first, and may be interrupted after any of them.
"""

from collections.abc import Sequence
from typing import Any, Final

from domain.engine.model import GameModel, engine_of
from domain.engine.search import evaluate
from domain.engine.turning_points import AnalysedPosition
from domain.game.engine import USUAL_BUDGETS
from domain.game.protocol import AnyRules

ANALYSIS_VERSION: Final = 1
"""Raised when the engine changes, or what an analysis has: one of another version is made again."""

NODES_OF_POSITION: Final = 20_000
"""The most nodes that are searched for a position; less in a game whose robots search less, too."""

NODES_OF_MATCH: Final = 1_200_000
"""The nodes for a whole match: a longer one than 60 plies has fewer for each position."""

FEWEST_NODES: Final = 500
"""The nodes for a position of the longest match."""

MOST_LINE_MOVES: Final = 10
"""The most moves of a better line."""

MOST_LINE_CHARACTERS: Final = 400
"""The most characters of a better line, which may be shorter than the engine found it."""


def nodes_of_position(rules: AnyRules, positions: int) -> int:
    """Return how many nodes to search for each position of a match that has so many."""
    share = max(FEWEST_NODES, min(NODES_OF_POSITION, NODES_OF_MATCH // positions))
    usual = USUAL_BUDGETS.hard
    return share * min(engine_of(rules).budgets.hard, usual) // usual


def analyse_position(
    rules: AnyRules, position: Any, move: str, nodes: int, seed: bytes
) -> AnalysedPosition:
    """Evaluate a position, in which this move was played; the move is empty in the last one.

    The line is the best one found, whether or not it is better than the move.
    """
    found = evaluate(rules, position, nodes, seed)
    score = rules.score(position)
    return AnalysedPosition(
        values=tuple(round(value, 3) for value in found.values),
        seat=rules.to_move(position),
        move=move,
        better=_shortened(found.line) if move else (),
        score=score.detail if score else "",
        reached=round(GameModel(rules, position).estimate(position)[0], 3) if score else 0.0,
    )


def _shortened(line: Sequence[str]) -> tuple[str, ...]:
    """Return the beginning of a line, because an analysis is stored and shown."""
    left, found = MOST_LINE_CHARACTERS, list[str]()
    for move in line[:MOST_LINE_MOVES]:
        left -= len(move) + 1
        if left < 0 and found:
            break
        found.append(move)
    return tuple(found)
