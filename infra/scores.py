"""Leaderboards of puzzles: one sorted set each, fed from the shard logs by `workers.scores`.

| key | what |
|---|---|
| `{p:scores}:<puzzle>` | sorted set, all of score 0: a row's text, so that text order is ranking |
| `{p:scores}:read` | hash: shard -> how many leaves of its log are in |

A row is written with the mark of how far was read, in one transaction; writing it twice is one row.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import redis

from domain.match.events import AccountId

_READ: Final = "{p:scores}:read"

_WIDTH: Final = 10
_OFFSET: Final = 5 * 10 ** (_WIDTH - 1)
"""Ranks may be negative; text order needs them not to be."""


class Row(msgspec.Struct, frozen=True):
    """A finished puzzle on its leaderboard."""

    rank: tuple[int, ...]
    """Smaller is better; see `domain.rules.api.Score`."""
    at: int
    """When the score was reached, ms: of equal ones the first counts."""
    board: int
    account: AccountId

    def text(self) -> str:
        """Give the text that sorts as rows rank."""
        ranks = ".".join(f"{_OFFSET + number:0{_WIDTH}}" for number in self.rank)
        return f"{ranks}|{self.at:015}|{self.board:015}|{self.account.hex()}"

    @classmethod
    def parse(cls, text: str) -> "Row":
        """Read what `text` gave."""
        ranks, at, board, account = text.split("|")
        rank = tuple(int(number) - _OFFSET for number in ranks.split("."))
        return cls(rank, int(at), int(board), bytes.fromhex(account))


def puzzle_name(game: str, options: Sequence[str]) -> str:
    """Name a leaderboard: a puzzle with other options is another puzzle."""
    return " ".join([game, *options])


def _key(puzzle: str) -> str:
    return f"{{p:scores}}:{puzzle}"


class Scores:
    """The leaderboards on a server."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def read(self) -> dict[int, int]:
        """Give how many leaves of each shard's log are in; shards never read are absent."""
        found: Any = self._client.hgetall(_READ)
        return {int(shard): int(count) for shard, count in found.items()}

    def add(self, rows: Iterable[tuple[str, Row]], shard: int, count: int) -> None:
        """Add rows, each with its puzzle, found among the first `count` leaves of a shard's log."""
        with self._client.pipeline(transaction=True) as pipe:
            for puzzle, row in rows:
                pipe.zadd(_key(puzzle), {row.text(): 0})
            pipe.hset(_READ, str(shard), str(count))
            pipe.execute()

    def best(self, puzzle: str, count: int) -> list[Row]:
        """Give the best rows of a puzzle, the best first, at most `count`, one for each account."""
        found: dict[AccountId, Row] = {}
        for text in self._in_order(puzzle):
            row = Row.parse(text)
            found.setdefault(row.account, row)
            if len(found) >= count:
                break
        return list(found.values())

    def _in_order(self, puzzle: str) -> Iterable[str]:
        start, step = 0, 100
        while texts := self._range(puzzle, start, step):
            yield from texts
            start += step

    def _range(self, puzzle: str, start: int, step: int) -> list[str]:
        found: Any = self._client.zrange(_key(puzzle), start, start + step - 1)
        return [text.decode() for text in found]
