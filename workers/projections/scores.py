"""The leaderboards of the puzzles: `infra.projections.scores` says what is kept.

A match counts once it has ended: its plies are replayed, and its best score is dated by the ply that
first reached it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from domain.match.events import Envelope, Moved
from domain.match.state import MatchState, fold, positions
from domain.rules import pinned
from infra.projections.scores import Row, board_key, puzzle_name
from infra.projections.shelf import Write
from infra.projections.specs import SCORES
from workers.projections.projection import Fact, Finished, Projection


class ScoresProjection(Projection):
    """A row for each puzzle that was played to its end."""

    spec = SCORES

    def fold(self, facts: Sequence[Fact], found: Sequence[Any]) -> Sequence[Write]:
        """Add the rows of what has ended."""
        del found
        return [write for fact in facts for write in _writes(fact)]


def _writes(fact: Fact) -> Iterator[Write]:
    if fact.finished is None or len(fact.cast.seats) != 1:
        return
    row = _row(fact.event.match, fact.cast.seats[0], fact.finished)
    puzzle = puzzle_name(fact.cast.game, fact.cast.options)
    yield "ZADD", board_key(puzzle), 0, row.text()


def _row(board: int, account: bytes, finished: Finished) -> Row:
    state = fold((event.body, event.at) for event in finished.history)
    rank, ply = _best(state)
    return Row(rank, _time_of(finished.history, ply), board, account)


def _best(state: MatchState) -> tuple[tuple[int, ...], int]:
    """Return the best rank that a puzzle reached, and the first ply at which it stood so."""
    rules = pinned(state.rules)
    ranks = []
    for position in positions(state):
        score = rules.score(position)
        if score is None:
            raise ValueError(f"{state.rules} is played alone and has no score")
        ranks.append(score.rank)
    best = min(ranks)
    return best, ranks.index(best)


def _time_of(history: Sequence[Envelope], ply: int) -> int:
    """Return the time of a ply in ms, of the start for ply 0."""
    at = 0
    for event in history:
        if isinstance(event.body, Moved) and event.body.ply > ply:
            break
        if at == 0 or isinstance(event.body, Moved):
            at = event.at
    return at
