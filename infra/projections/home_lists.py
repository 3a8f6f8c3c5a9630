"""The lists of matches as a player's home page needs them, in few round trips."""

from collections.abc import Sequence
from typing import Any

import msgspec

from domain.match.events import AccountId
from infra.projections.match_lists import (
    ROWS,
    MatchListRow,
    MatchLists,
    active_key,
    asked_key,
    board_of,
    next_key,
    over_key,
    unpack,
)
from infra.redis.reads import Read


class MatchesOverview(msgspec.Struct, frozen=True):
    """The matches of a player's home page."""

    waiting: list[MatchListRow]
    """All that wait for a move, consent or answer of the player."""
    others: list[MatchListRow]
    """Some other running matches, the newest board first."""
    active: int
    """The number of running matches."""


class HomeLists(MatchLists):
    """Queries of the lists, and of all that a home page shows of them."""

    def overview(self, account: AccountId, count: int) -> MatchesOverview:
        """Return the matches of a player's home page; O(n) in the player's running matches."""
        bucket = self._generation().of(account)
        with self._client.pipeline(transaction=False) as pipe:
            for key in (asked_key, next_key, active_key):
                pipe.zrange(bucket.key(key(account)), 0, -1)
            asked, waits, active = (list(map(board_of, found)) for found in pipe.execute())
        mine = dict.fromkeys([*asked, *waits])
        others = [board for board in reversed(active) if board not in mine][:count]
        found = self._fields(bucket.key(ROWS), [*mine, *others])
        # a match that ended between the two reads may have no row
        rows = [unpack(row) for row in found if row is not None]
        return MatchesOverview(
            waiting=[row for row in rows if row.board in mine],
            others=[row for row in rows if row.board not in mine],
            active=len(active),
        )

    def change_marks(self, accounts: Sequence[AccountId]) -> Read[list[str]]:
        """Return the read of a text for each player that changes whenever their lists do."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                for key in (next_key, asked_key, active_key, over_key):
                    name = generation.of(account).key(key(account))
                    pipe.zcard(name)
                    pipe.zrange(name, 0, 0, desc=True, withscores=True)

        def parse(found: list[Any]) -> list[str]:
            each = len(found) // len(accounts) if accounts else 0
            return [repr(found[at * each : (at + 1) * each]) for at in range(len(accounts))]

        return Read(queue, parse)
