"""Leaderboards of puzzles, a sorted set each.

A match counts once it has ended: its plies are replayed, and its best score has the time of the ply
that first reached it. Those of bots don't count. A leaderboard is in the bucket of its puzzle.

| key | what |
|---|---|
| `board:<puzzle>` | sorted set, all of score 0: the text of each player's best row, so that text order is ranking |
| `rows:<puzzle>:<account>` | the same of all rows of a player, of which the next counts when a ruling takes the best away |
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from domain.match.events import Imported, Moved, SetBack
from domain.match.evolve import fold
from domain.match.history import EventEnvelope
from domain.match.state import MatchState, Reason, is_bot, positions
from domain.records import AccountId
from domain.rules import rules_by_id
from infra.projections.buckets import SCORES, Bucket, RedisRead, RedisWrite
from infra.projections.generations import Query
from infra.projections.projection import Fact, MatchResult, Projection

_WIDTH: Final = 10
_OFFSET: Final = 5 * 10 ** (_WIDTH - 1)
"""Ranks may be negative; text order needs them not to be."""


class LeaderboardRow(msgspec.Struct, frozen=True):
    """A finished puzzle on its leaderboard."""

    rank: tuple[int, ...]
    """Smaller is better; see `domain.game.protocol.PuzzleScore`."""
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


def rows_key(puzzle: str, account: AccountId) -> str:
    """Return the key of a player's rows of a puzzle."""
    return f"rows:{puzzle}:{account.hex()}"


class Leaderboards(Query):
    """Queries of the leaderboards."""

    spec = SCORES

    def best(self, puzzle: str, start: int = 0, count: int = 50) -> list[LeaderboardRow]:
        """Return the best row of each player of a puzzle, the best first, from the `start`th on.

        O(log n + count) in the players.
        """
        key = self._generation().of(puzzle).key(leaderboard_key(puzzle))
        return self._read(key, start, count)

    def best_of(self, puzzle: str, account: AccountId) -> LeaderboardRow | None:
        """Return the best row of a player; None without a finished puzzle."""
        key = self._generation().of(puzzle).key(rows_key(puzzle, account))
        return next(iter(self._read(key, 0, 1)), None)

    def count(self, puzzle: str) -> int:
        """Return the number of players on a puzzle's leaderboard; O(1)."""
        key = self._generation().of(puzzle).key(leaderboard_key(puzzle))
        return int(self._client.zcard(key))

    def _read(self, key: str, start: int, count: int) -> list[LeaderboardRow]:
        found = self._client.zrange(key, start, start + count - 1) if count else ()
        return [LeaderboardRow.parse(text.decode()) for text in found]


class LeaderboardsProjection(Projection):
    """Keeps a row for each puzzle that was played to its end, and the best of each player."""

    spec = SCORES
    settled_only = True
    shards_apart = False
    """A player's best row is found among those of all shards."""

    def owners(self, fact: Fact) -> Sequence[str]:
        """Return the puzzle that has ended, or whose result is taken away."""
        result = fact.result or fact.revoked
        if len(fact.setup.seats) != 1 or result is None or _was_imported(result):
            return ()
        if is_bot(fact.setup.seats[0]):
            return ()
        return (_puzzle_of(fact),)

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the reads of each player's best rows: one more than these facts can take away."""
        del bucket
        return [("ZRANGE", key, 0, len(some)) for (_, key), some in _by_player(facts).items()]

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Add the rows of puzzles that have ended, remove those of results taken away, and keep the best."""
        del bucket
        writes: list[RedisWrite] = []
        for ((puzzle, key), some), first in zip(_by_player(facts).items(), found, strict=True):
            rows = {text.decode() for text in first}
            before = min(rows, default="")
            for fact in some:
                if text := _text(fact, fact.revoked):
                    rows.discard(text)
                    writes.append(("ZREM", key, text))
                if text := _text(fact, fact.result):
                    rows.add(text)
                    writes.append(("ZADD", key, 0, text))
            after = min(rows, default="")
            if before and before != after:
                writes.append(("ZREM", leaderboard_key(puzzle), before))
            if after and before != after:
                writes.append(("ZADD", leaderboard_key(puzzle), 0, after))
        return writes


def _puzzle_of(fact: Fact) -> str:
    return puzzle_name(fact.setup.game, fact.setup.options)


def _by_player(facts: Sequence[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """Return facts by puzzle and key of the player's rows, in their order."""
    found: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        puzzle = _puzzle_of(fact)
        found.setdefault((puzzle, rows_key(puzzle, fact.setup.seats[0])), []).append(fact)
    return found


def _text(fact: Fact, result: MatchResult | None) -> str:
    """Return the text of the row of a result; empty without one that counts."""
    if result is None or result.reason == Reason.ANNULLED:
        return ""
    return _row(fact.event.match, fact.setup.seats[0], result).text()


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
