"""The lists of matches as a player's home page needs them, in few round trips."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from domain.match.events import AccountId
from infra.projections.archived_places import last_of, queue_last, queue_size, size_of
from infra.projections.buckets import Bucket
from infra.projections.match_lists import (
    ROWS,
    MatchListRow,
    MatchLists,
    active_key,
    asked_key,
    board_of,
    next_key,
    proposed_key,
    unpack,
)
from infra.redis.reads import Read

Scored: TypeAlias = Sequence[tuple[bytes, float]]
"""Members of a sorted set with their scores."""


class HomeBoards(msgspec.Struct, frozen=True):
    """The boards of a player's home page."""

    bucket: Bucket
    """The player's, which has a row of each."""
    waiting: list[int]
    """All that wait for a move, consent or answer of the player."""
    others: list[int]
    """The other running ones, and those that others have yet to accept, the newest first."""
    mark: str
    """The text of `HomeLists.change_marks` for the player."""


class HomeLists(MatchLists):
    """Queries of the lists, and of all that a home page shows of them."""

    def read_boards(self, account: AccountId) -> Read[HomeBoards]:
        """Return the read of a player's boards; O(n) in the player's running matches."""
        bucket = self._generation().of(account)

        def queue(pipe: Any) -> None:
            _queue_waiting(pipe, bucket, account)
            pipe.zrange(bucket.key(active_key(account)), 0, -1)
            pipe.zrange(bucket.key(proposed_key(account)), 0, -1)

        def parse(replies: list[Any]) -> HomeBoards:
            waiting, active, proposed = replies
            mine = dict.fromkeys(board_of(member) for member, _ in waiting)
            running = sorted(map(board_of, (*active, *proposed)), reverse=True)
            others = [board for board in running if board not in mine]
            mark = _text(waiting, len(active), active[-1:], proposed)
            return HomeBoards(bucket, list(mine), others, mark)

        return Read(queue, parse)

    def read_waiting_counts(self, accounts: Sequence[AccountId]) -> Read[list[int]]:
        """Return the read of how many matches wait for each player; O(n) in their number."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                _queue_waiting(pipe, generation.of(account), account)

        return Read(queue, lambda found: list(map(len, found)))

    def read_activity(self, accounts: Sequence[AccountId]) -> Read[list[tuple[int, int, int]]]:
        """Return the read of each player's running and finished matches, and when the last ended, ms."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                over = self._finished.list_of(None, account)
                pipe.zcard(generation.of(account).key(active_key(account)))
                queue_size(pipe, over)
                queue_last(pipe, over)

        def parse(found: list[Any]) -> list[tuple[int, int, int]]:
            each = [found[at : at + 5] for at in range(0, len(found), 5)]
            return [(active, size_of(*found[:2]), last_of(*found[2:])) for active, *found in each]

        return Read(queue, parse)

    @staticmethod
    def read_rows(bucket: Bucket, boards: Sequence[int]) -> Read[dict[int, MatchListRow]]:
        """Return the read of rows by board from a player's bucket; without those it does not have."""
        wanted = list(dict.fromkeys(boards))

        def queue(pipe: Any) -> None:
            if wanted:
                pipe.hmget(bucket.key(ROWS), wanted)

        def parse(replies: list[Any]) -> dict[int, MatchListRow]:
            pairs = zip(wanted, replies[0] if wanted else (), strict=True)
            return {board: unpack(row) for board, row in pairs if row is not None}

        return Read(queue, parse)

    def change_marks(self, accounts: Sequence[AccountId]) -> Read[list[str]]:
        """Return the read of a text for each player that changes with the lists of a home page."""
        generation = self._generation()

        def queue(pipe: Any) -> None:
            for account in accounts:
                bucket = generation.of(account)
                _queue_waiting(pipe, bucket, account)
                pipe.zcard(bucket.key(active_key(account)))
                pipe.zrange(bucket.key(active_key(account)), -1, -1)
                pipe.zrange(bucket.key(proposed_key(account)), 0, -1)

        return Read(
            queue,
            lambda found: [_text(*found[at : at + 4]) for at in range(0, len(found), 4)],
        )


def _queue_waiting(pipe: Any, bucket: Bucket, account: AccountId) -> None:
    """Read the matches that wait for a player: for an answer, or for a move or consent."""
    pipe.zunion([bucket.key(key(account)) for key in (asked_key, next_key)], withscores=True)


def _text(waiting: Scored, active: int, newest: Sequence[bytes], proposed: Sequence[bytes]) -> str:
    """Return a text that changes with the matches that wait, and with the number and last of all."""
    return repr([waiting, active, newest, proposed])
