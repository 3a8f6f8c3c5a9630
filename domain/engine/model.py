"""A game as the searches see it: the rules, what the game declares, and the nodes that were spent."""

from itertools import islice
from typing import Any, Final

from domain.game.engine import GameEngine, Values
from domain.game.protocol import AnyRules, Seat
from domain.rules.registry import game_by_key, game_keys

MOST_MOVES: Final = 2_000
"""The most moves of a position that are searched."""
MOVES_PER_NODE: Final = 32
"""This many generated moves count as one node, because they take about as long."""

_NO_ENGINE: Final = GameEngine()


def engine_of(rules: AnyRules) -> GameEngine:
    """Return the declaration of the game of these rules, of any version; an empty one if there is none."""
    found = game_by_key(rules.key).engine if rules.key in game_keys() else None
    return found or _NO_ENGINE


class GameModel:
    """The rules of one match for one search. It counts the nodes: the work that takes time."""

    def __init__(self, rules: AnyRules, position: Any) -> None:
        self.rules = rules
        self.engine = engine_of(rules)
        count = self.engine.players
        self.players = count(position) if count else max(rules.players)
        self.nodes = 0

    def seat(self, position: Any) -> Seat | None:
        """Return the seat to move; None when the match is over."""
        return self.rules.to_move(position)

    def moves(self, position: Any) -> list[Any]:
        """Return the moves to search, the promising ones first."""
        candidates = self.engine.candidates
        source = candidates or self.rules.moves
        found = list(islice(source(position), MOST_MOVES))
        self.nodes += len(found) // MOVES_PER_NODE
        return found

    def play(self, position: Any, move: Any) -> Any:
        """Return the position after a move."""
        self.nodes += 1
        return self.rules.play(position, move)

    def final_values(self, position: Any) -> Values:
        """Return the values of a match that is over: the winners share the win."""
        if self.players == 1:
            return self.estimate(position)
        outcome = self.rules.outcome(position)
        assert outcome is not None, "nobody is to move"
        share = 1 / len(outcome.winners)
        return tuple([share * (seat in outcome.winners) for seat in range(self.players)])

    def estimate(self, position: Any) -> Values:
        """Return the values of a position as the game's evaluation sees them."""
        if self.engine.evaluate:
            return self.engine.evaluate(position)
        if self.players == 1:
            return (self._score_value(position),)
        return (1 / self.players,) * self.players

    def score_parts(self, position: Any) -> tuple[int, ...]:
        """Return a puzzle's score in numbers that compare like scores, more is better."""
        score = self.rules.score(position)
        assert score is not None, "a match of one seat is a puzzle"
        return tuple([-part for part in score.rank])

    def _score_value(self, position: Any) -> float:
        """Return a puzzle's score as a value that grows with it; the bound is not known here."""
        worth, scale = 0.0, 1.0
        for part in self.score_parts(position):
            worth += part * scale
            scale /= 100
        return 0.5 + worth / (2 * (100 + abs(worth)))
