"""Alpha-beta search for two seats, with iterative deepening until the nodes are spent.

All values are those of the seat to move in a position, from 0 to 1, so the other seat's is the rest.
Seats need not alternate, because some games pass a player who can't move.
"""

from typing import Any, Final, NamedTuple

from domain.engine.model import GameModel
from domain.game.engine import Values
from domain.game.protocol import Seat
from domain.random_numbers import RandomNumbers

LONGEST_LINE: Final = 60
"""The most plies of a line that is searched."""
_LOWEST, _HIGHEST = -1.0, 2.0
"""Bounds of all values: a win in few plies is worth a little more than 1, a loss a little less than 0."""
_SOONER: Final = 0.001
"""How much a win is worth more, and a loss less, if it comes one ply earlier."""


class _NodesSpent(Exception):  # noqa: N818 - it ends a search, and is no error
    """The budget of nodes is spent in the middle of an iteration."""


class _Successor(NamedTuple):
    """A move of a position that was expanded, and the position after it."""

    value: float
    """The value for the seat that makes the move: the estimate, or the result of a match that is over."""
    move: Any
    position: Any
    seat: Seat | None


class AlphaBetaSearch:
    """A search from one position."""

    def __init__(self, model: GameModel, position: Any, numbers: RandomNumbers) -> None:
        seat = model.seat(position)
        assert seat is not None, "the match is over"
        self._model, self._position, self._seat, self._numbers = model, position, seat, numbers
        self._most_nodes = 0
        self._best_moves: dict[Any, Any] = {}
        self._children: dict[Any, list[_Successor]] = {}
        self._has_estimates = False
        self._best = _Successor(0.5, None, position, seat)

    def run(self, nodes: int) -> None:
        """Search ever deeper until the model has counted that many nodes."""
        self._most_nodes = nodes
        moves = self._model.moves(self._position)
        self._numbers.shuffle(moves)  # so that equal moves are chosen by the seed
        spare = max(1, nodes - self._model.nodes)
        first = [self._child(self._position, self._seat, move) for move in moves[:spare]]
        first.sort(key=_value_of, reverse=True)
        self._best = first[0]
        for depth in range(2, LONGEST_LINE):
            self._has_estimates = False
            try:
                self._search_root(first, depth)
            except _NodesSpent:
                break
            if not self._has_estimates or not 0 <= self._best.value <= 1:
                break

    @property
    def values(self) -> Values:
        """The values of both seats."""
        value = min(1.0, max(0.0, self._best.value))
        return (1 - value, value) if self._seat else (value, 1 - value)

    def best_line(self) -> list[Any]:
        """Return the best moves for both seats, as far as they were searched."""
        # a line may come back to the first position, whose best move was searched less deep there
        line = [self._best.move]
        position = self._best.position
        while position in self._best_moves and len(line) < LONGEST_LINE:
            line.append(self._best_moves[position])
            position = self._model.rules.play(position, line[-1])
        return line

    def _search_root(self, first: list[_Successor], depth: int) -> None:
        """Search all moves of the first position, and sort them: the best so far comes first."""
        best = _LOWEST
        for child in list(first):
            value = self._value_of_child(child, self._seat, depth, best, _HIGHEST)
            if value > best:
                best = value
                self._best = child._replace(value=value)
                first.remove(child)
                first.insert(0, child)

    def _value_of_child(
        self, child: _Successor, seat: Seat, depth: int, alpha: float, beta: float
    ) -> float:
        """Return the value of a move for the seat that makes it."""
        if child.seat is None:
            return child.value + (child.value - 0.5) * _SOONER * depth
        if depth == 1:
            self._has_estimates = True
            return child.value
        if child.seat == seat:
            return self._search(child.position, seat, depth - 1, alpha, beta)
        return 1 - self._search(child.position, child.seat, depth - 1, 1 - beta, 1 - alpha)

    def _search(self, position: Any, seat: Seat, depth: int, alpha: float, beta: float) -> float:
        """Return the value of a position for the seat to move, exact if it is between the bounds."""
        self._model.nodes += 1
        if self._model.nodes > self._most_nodes:
            raise _NodesSpent
        if depth == 1:
            return self._search_last_ply(position, seat, beta)
        children = self._children.get(position)
        if children is None:
            children = self._children[position] = self._expand(position, seat)
            children.sort(key=_value_of, reverse=True)
        best, best_child = _LOWEST, None
        for child in children:
            value = self._value_of_child(child, seat, depth, max(alpha, best), beta)
            if value > best:
                best, best_child = value, child
                if best >= beta:
                    break
        assert best_child is not None, "somebody is to move, and has a move"
        children.remove(best_child)
        children.insert(0, best_child)
        self._best_moves[position] = best_child.move
        return best

    def _search_last_ply(self, position: Any, seat: Seat, beta: float) -> float:
        """Return the best estimate after any move, or the first one that reaches the bound."""
        model, best = self._model, _LOWEST
        for move in model.moves(position):
            child = self._child(position, seat, move)
            value = self._value_of_child(child, seat, 1, best, beta)
            if value > best:
                best = value
                self._best_moves[position] = move
                if best >= beta:
                    break
        return best

    def _expand(self, position: Any, seat: Seat) -> list[_Successor]:
        return [self._child(position, seat, move) for move in self._model.moves(position)]

    def _child(self, position: Any, seat: Seat, move: Any) -> _Successor:
        model = self._model
        after = model.play(position, move)
        next_seat = model.seat(after)
        values = model.final_values(after) if next_seat is None else model.estimate(after)
        return _Successor(values[seat], move, after, next_seat)


def _value_of(child: _Successor) -> float:
    return child.value
