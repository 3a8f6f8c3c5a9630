"""Beam search for puzzles: the most promising positions of each ply are kept, and the rest dropped.

Beams of one position, two, four and so on follow each other until the nodes are spent, so a small
budget has a result, too, and a large one finds better scores.
"""

from typing import Any, Final, NamedTuple

from domain.engine.model import GameModel
from domain.game.engine import Values
from domain.random_numbers import RandomNumbers

PATIENCE: Final = 8
"""The most plies of a beam without a better score."""


class _Solution(NamedTuple):
    """A position that was reached, and the moves to it."""

    position: Any
    line: tuple[Any, ...]
    over: bool


class PuzzleSearch:
    """A search from one position of a puzzle."""

    def __init__(self, model: GameModel, position: Any, numbers: RandomNumbers) -> None:
        self._model, self._numbers, self._most_nodes = model, numbers, 0
        self._first = _Solution(position, (), over=False)
        self._best: _Solution | None = None

    def run(self, nodes: int) -> None:
        """Search by ever wider beams until the model has counted that many nodes."""
        self._most_nodes, width = nodes, 1
        while self._search_beam(width) and self._has_nodes:
            width *= 2

    @property
    def values(self) -> Values:
        """The value of the best score that was found."""
        assert self._best is not None, "the search has run"
        return self._model.estimate(self._best.position)

    def best_line(self) -> list[Any]:
        """Return the moves to the best score that was found."""
        return list(self._best.line) if self._best else []

    @property
    def _has_nodes(self) -> bool:
        return self._model.nodes < self._most_nodes

    def _search_beam(self, width: int) -> bool:
        """Search by a beam of this width, and return whether it dropped a position."""
        dropped = False
        beam, seen, patience = [self._first], {self._first.position}, PATIENCE
        while beam and patience and (self._best is None or self._has_nodes):
            best = self._best
            found = self._next_plies(beam, seen)
            patience = patience - 1 if self._best is best else PATIENCE
            self._numbers.shuffle(found)  # so that equal positions are chosen by the seed
            found.sort(key=self._promise, reverse=True)
            beam = found[:width]
            dropped |= len(found) > width
        return dropped or patience == 0

    def _next_plies(self, beam: list[_Solution], seen: set[Any]) -> list[_Solution]:
        """Return the new positions after any move from those of a beam, and keep the best of all."""
        model, found = self._model, []
        for one in beam:
            for move in model.moves(one.position):
                after = model.play(one.position, move)
                if after not in seen:
                    seen.add(after)
                    over = model.seat(after) is None
                    found.append(_Solution(after, (*one.line, move), over))
                    self._keep_better(found[-1])
        return [one for one in found if not one.over]

    def _keep_better(self, one: _Solution) -> None:
        """Keep a solution if its score is better, or if it ends the match with the best score."""
        if self._best is None or self._worth(one) > self._worth(self._best):
            self._best = one

    def _worth(self, one: _Solution) -> tuple[float, ...]:
        return (*self._model.score_parts(one.position), one.over)

    def _promise(self, one: _Solution) -> tuple[float, ...]:
        guide = self._model.engine.guide
        return (guide(one.position),) if guide else self._model.score_parts(one.position)
