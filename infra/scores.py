"""Leaderboards of puzzles, by the name they had."""

from infra.projections.scores import Row, Scores, puzzle_name

__all__ = ["Row", "Scores", "puzzle_name"]
