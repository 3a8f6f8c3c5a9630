"""Leaderboards of puzzles, a sorted set each.

A match counts once it has ended: its plies are replayed, and its best score has the time of the ply
that first reached it. A leaderboard is in the bucket of its puzzle.

| key | what |
|---|---|
| `board:<puzzle>` | sorted set, all of score 0: a row's text, so that text order is ranking |
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from domain.match.dispute_events import SetBack
from domain.match.events import AccountId, EventEnvelope, Imported, Moved
from domain.match.state import MatchState, Reason, fold, positions
from domain.rules import rules_by_id
from infra.projections.projection import Fact, MatchResult, OwnedWrite, StatelessProjection
from infra.projections.query import Query
from infra.projections.specs import SCORES

_WIDTH: Final = 10
_OFFSET: Final = 5 * 10 ** (_WIDTH - 1)
"""Ranks may be negative; text order needs them not to be."""


class LeaderboardRow(msgspec.Struct, frozen=True):
    """A finished puzzle on its leaderboard."""

    rank: tuple[int, ...]
    """Smaller is better; see `domain.rules.protocol.PuzzleScore`."""
    at: int
    """When the score was reached, ms: of equal scores the earlier is better."""
    board: int
    account: AccountId

    def text(self) -> str:
        """Return a text whose order is that of the ranking."""
        ranks = ".".join(f"{_OFFSET + number:0{_WIDTH}}" for number in self.rank)
        return f"{ranks}|{self.at:015}|{self.board:015}|{self.account.hex()}"

    @classmethod
    def parse(cls, text: str) -> "LeaderboardRow":
        """Read the result of `text`."""
        ranks, at, board, account = text.split("|")
        rank = tuple(int(number) - _OFFSET for number in ranks.split("."))
        return cls(rank, int(at), int(board), bytes.fromhex(account))


def puzzle_name(game: str, options: Sequence[str]) -> str:
    """Return the name of a leaderboard: other options make another puzzle."""
    return " ".join([game, *options])


def leaderboard_key(puzzle: str) -> str:
    """Return the key of a leaderboard."""
    return f"board:{puzzle}"


class Leaderboards(Query):
    """Queries of the leaderboards."""

    spec = SCORES

    def best(self, puzzle: str, count: int | None = None) -> list[LeaderboardRow]:
        """Return the best rows of a puzzle, the best first, at most `count`, one for each account.

        O(n) at worst, if few accounts have all the best rows.
        """
        found: dict[AccountId, LeaderboardRow] = {}
        bucket = self._generation().of(puzzle)
        for text in self._members(bucket.key(leaderboard_key(puzzle)), newest=False):
            row = LeaderboardRow.parse(text.decode())
            found.setdefault(row.account, row)
            if count is not None and len(found) >= count:
                break
        return list(found.values())


class LeaderboardsProjection(StatelessProjection):
    """Keeps a row for each puzzle that was played to its end."""

    spec = SCORES

    def owners(self, fact: Fact) -> Sequence[str]:
        """Return the puzzle that has ended, or whose result is taken away."""
        result = fact.result or fact.revoked
        if len(fact.setup.seats) != 1 or result is None or _was_imported(result):
            return ()
        return (puzzle_name(fact.setup.game, fact.setup.options),)

    def writes(self, fact: Fact) -> Iterator[OwnedWrite]:
        """Add the row of a puzzle that has ended, and remove that of a result which is taken away."""
        for puzzle in self.owners(fact):
            key, board, account = leaderboard_key(puzzle), fact.event.match, fact.setup.seats[0]
            if fact.revoked and fact.revoked.reason != Reason.ANNULLED:
                yield puzzle, ("ZREM", key, _row(board, account, fact.revoked).text())
            if fact.result and fact.result.reason != Reason.ANNULLED:
                yield puzzle, ("ZADD", key, 0, _row(board, account, fact.result).text())


def _was_imported(finished: MatchResult) -> bool:
    """Return whether a puzzle was brought from elsewhere, so that nobody knows how it was solved."""
    return bool(finished.history) and isinstance(finished.history[0].body, Imported)


def _row(board: int, account: bytes, finished: MatchResult) -> LeaderboardRow:
    state = fold((event.body, event.at) for event in finished.history)
    rank, ply = _best(state)
    return LeaderboardRow(rank, _time_of(finished.history, ply), board, account)


def _best(state: MatchState) -> tuple[tuple[int, ...], int]:
    """Return the best rank of a puzzle, and the first ply that reached it."""
    rules = rules_by_id(state.rules)
    ranks = []
    for position in positions(state):
        score = rules.score(position)
        if score is None:
            raise ValueError(f"{state.rules} is played alone and has no score")
        ranks.append(score.rank)
    best = min(ranks)
    return best, ranks.index(best)


def _time_of(history: Sequence[EventEnvelope], ply: int) -> int:
    """Return the time of a ply in ms, of the start for ply 0; plies that are gone do not count."""
    times = [history[0].at]
    for event in history:
        match event.body:
            case Moved():
                times.append(event.at)
            case SetBack():
                del times[event.body.ply + 1 :]
    return times[ply]
