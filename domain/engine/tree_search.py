"""Monte Carlo tree search by upper confidence bounds (UCT), for any number of seats.

Each seat maximises its own value. A new leaf is evaluated by a playout of random moves. The square
root and the length of an integer are exact on any machine, so a seed leads to the same search.
"""

from math import sqrt
from typing import Any, Final

from domain.engine.model import MOVES_PER_NODE, GameModel
from domain.game.engine import Values
from domain.game.protocol import Seat
from domain.random_numbers import RandomNumbers

EXPLORATION: Final = 0.6
"""How much rarely tried moves are preferred, against the best move so far."""
LONGEST_PLAYOUT: Final = 200
"""The most plies of a playout in a game without an evaluation."""


class TreeNode:
    """A position of the tree, the moves that were not tried yet, and the results so far."""

    __slots__ = ("children", "move", "position", "seat", "totals", "untried", "visits")

    def __init__(self, move: Any, position: Any, seat: Seat | None, players: int) -> None:
        self.move, self.position, self.seat = move, position, seat
        self.untried: list[Any] | None = None
        self.children: list[TreeNode] = []
        self.visits = 0
        self.totals = [0.0] * players

    def add(self, values: Values) -> None:
        """Count a visit with these values."""
        self.visits += 1
        totals = self.totals
        for seat, value in enumerate(values):
            totals[seat] += value


class TreeSearch:
    """A search from one position."""

    def __init__(self, model: GameModel, position: Any, numbers: RandomNumbers) -> None:
        self._model, self._numbers = model, numbers
        self.root = TreeNode(None, position, model.seat(position), model.players)

    def run(self, nodes: int) -> None:
        """Search until the model has counted that many nodes; at least one playout."""
        while self._model.nodes < nodes or not self.root.visits:
            path = self._select()
            values = self._playout(path[-1])
            for node in path:
                node.add(values)

    @property
    def values(self) -> Values:
        """The mean values of all playouts."""
        return tuple([total / self.root.visits for total in self.root.totals])

    def best_line(self) -> list[Any]:
        """Return the moves that were tried most, as far as a move was tried more than once."""
        line: list[Any] = []
        node = self.root
        while node.children:
            node = max(node.children, key=lambda child: child.visits)
            if line and node.visits < 2:  # noqa: PLR2004 - a single playout says too little
                break
            line.append(node.move)
        return line

    def _select(self) -> list[TreeNode]:
        """Return the path from the root to a new leaf, or to the end of a match."""
        node = self.root
        path = [node]
        while node.seat is not None:
            if node.untried is None:
                node.untried = self._model.moves(node.position)
                self._numbers.shuffle(node.untried)
            if node.untried:
                path.append(self._expand(node, node.untried.pop()))
                break
            node = self._most_promising(node, node.seat)
            path.append(node)
        return path

    def _expand(self, node: TreeNode, move: Any) -> TreeNode:
        model = self._model
        position = model.play(node.position, move)
        child = TreeNode(move, position, model.seat(position), model.players)
        node.children.append(child)
        return child

    def _most_promising(self, node: TreeNode, seat: Seat) -> TreeNode:
        """Return the child with the highest upper bound of the mover's value."""
        self._model.nodes += 1 + len(node.children) // MOVES_PER_NODE
        exploration = EXPLORATION * sqrt(node.visits.bit_length())
        return max(
            node.children,
            key=lambda child: child.totals[seat] / child.visits + exploration / sqrt(child.visits),
        )

    def _playout(self, leaf: TreeNode) -> Values:
        """Play random moves from a leaf, and return the values of the position they lead to."""
        model, numbers = self._model, self._numbers
        position, seat = leaf.position, leaf.seat
        plies = model.engine.playout_plies if model.engine.evaluate else LONGEST_PLAYOUT
        for _ in range(plies):
            if seat is None:
                break
            moves = model.moves(position)
            position = model.play(position, numbers.choice(moves))
            seat = model.seat(position)
        return model.final_values(position) if seat is None else model.estimate(position)
