"""Leaderboards of puzzles: one sorted set each.

| key | what |
|---|---|
| `board:<puzzle>` | sorted set, all of score 0: a row's text, so that text order is ranking |
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from domain.match.events import AccountId
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
    """When the score was reached, ms: of equal ones the first counts."""
    board: int
    account: AccountId

    def text(self) -> str:
        """Return the text that sorts as rows rank."""
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


def board_key(puzzle: str) -> str:
    """Name a leaderboard's sorted set."""
    return f"board:{puzzle}"


class Scores(View):
    """The leaderboards on a server."""

    spec = SCORES

    def best(self, puzzle: str, count: int | None = None) -> list[Row]:
        """Return the best rows of a puzzle, the best first, at most `count`, one for each account.

        O(n) at worst, where few accounts have all the best rows.
        """
        found: dict[AccountId, Row] = {}
        for text in self._members(self._generation().key(board_key(puzzle)), newest=False):
            row = Row.parse(text.decode())
            found.setdefault(row.account, row)
            if count is not None and len(found) >= count:
                break
        return list(found.values())
