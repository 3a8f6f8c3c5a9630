"""Leaderboards of puzzles, a sorted set each.

A match counts once it has ended: its plies are replayed, and its best score has the time of the ply
that first reached it.

| key | what |
|---|---|
| `board:<puzzle>` | sorted set, all of score 0: a row's text, so that text order is ranking |
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from domain.match.events import AccountId, Envelope, Moved
from domain.match.state import MatchState, fold, positions
from domain.rules import pinned
from infra.projections.projection import Fact, Finished, StatelessProjection
from infra.projections.shelf import Write
from infra.projections.specs import SCORES
from infra.projections.view import View

_WIDTH: Final = 10
_OFFSET: Final = 5 * 10 ** (_WIDTH - 1)
"""Ranks may be negative; text order needs them not to be."""


class Row(msgspec.Struct, frozen=True):
    """A finished puzzle on its leaderboard."""

    rank: tuple[int, ...]
    """Smaller is better; see `domain.rules.protocol.Score`."""
    at: int
    """When the score was reached, ms: of equal scores the earlier is better."""
    board: int
    account: AccountId

    def text(self) -> str:
        """Return a text whose order is that of the ranking."""
        ranks = ".".join(f"{_OFFSET + number:0{_WIDTH}}" for number in self.rank)
        return f"{ranks}|{self.at:015}|{self.board:015}|{self.account.hex()}"

    @classmethod
    def parse(cls, text: str) -> "Row":
        """Read the result of `text`."""
        ranks, at, board, account = text.split("|")
        rank = tuple(int(number) - _OFFSET for number in ranks.split("."))
        return cls(rank, int(at), int(board), bytes.fromhex(account))


def puzzle_name(game: str, options: Sequence[str]) -> str:
    """Return the name of a leaderboard: other options make another puzzle."""
    return " ".join([game, *options])


def board_key(puzzle: str) -> str:
    """Return the key of a leaderboard."""
    return f"board:{puzzle}"


class Scores(View):
    """Queries of the leaderboards."""

    spec = SCORES

    def best(self, puzzle: str, count: int | None = None) -> list[Row]:
        """Return the best rows of a puzzle, the best first, at most `count`, one for each account.

        O(n) at worst, if few accounts have all the best rows.
        """
        found: dict[AccountId, Row] = {}
        for text in self._members(self._generation().key(board_key(puzzle)), newest=False):
            row = Row.parse(text.decode())
            found.setdefault(row.account, row)
            if count is not None and len(found) >= count:
                break
        return list(found.values())


class ScoresProjection(StatelessProjection):
    """Keeps a row for each puzzle that was played to its end."""

    spec = SCORES

    def writes(self, fact: Fact) -> Iterator[Write]:
        """Add the row of a puzzle that has ended."""
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
    """Return the best rank of a puzzle, and the first ply that reached it."""
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
