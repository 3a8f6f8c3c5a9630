"""The audit of many matches of a shard at once: they are read in few round trips, and no leaf is read twice.

A match is audited as `infra.audit.stored_match` does, but its events are not compared with the log leaf by leaf: the
total of its leaves is compared with the one that the scan of the log has found. A match that does not fit, or
was written to while it was read, is read again by itself, which finds the first fault.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory
from infra.audit.draws import KnownSeeds
from infra.audit.leaf_totals import NO_TOTAL, TotalsSlice, add_numbers, leaf_number
from infra.audit.match import CheckedMatch, CheckedMatches
from infra.audit.stored_match import (
    StoredMatch,
    anchors_in,
    audit_stored,
    check_match,
    read_leaves,
)
from infra.store import locators
from infra.store.port import Store
from infra.store.snapshots import WholeMatch
from infra.store.trimmed_leaves import TrimmedLeavesError

AT_ONCE: Final = 32
"""Matches that are read in one round trip, so that the server is never busy for long."""


class MatchBatches:
    """Checks matches of one shard whose log was scanned up to `end`. Errors of the data's server pass through."""

    def __init__(self, store: Store, shard: int, end: int, secret: bytes) -> None:
        self._store = store
        self._shard = shard
        self._shards = store.shards
        self._end = end
        self._secret = secret
        self._seeds = KnownSeeds()

    def check(self, totals: TotalsSlice, places: Sequence[int]) -> CheckedMatches:
        """Check the matches at these places of the shard."""
        found = CheckedMatches()
        for start in range(0, len(places), AT_ONCE):
            boards = [
                self._shards * place + self._shard for place in places[start : start + AT_ONCE]
            ]
            for board, whole in zip(boards, self._read(boards), strict=True):
                self._check(board, whole, totals.of(board // self._shards), found)
        return found

    def _read(self, boards: Sequence[int]) -> Sequence[WholeMatch | None]:
        """Return matches, None for those that have to be read by themselves."""
        try:
            return self._store.whole_matches(boards)
        except ResponseError:  # a key is of another type: the match is found when it is read alone
            return [None] * len(boards)

    def _check(
        self, board: int, whole: WholeMatch | None, total: tuple[int, int], found: CheckedMatches
    ) -> None:
        try:
            match = self._fitting(board, whole, total) or self._alone(board, total)
        except BrokenHistory as broken:
            found.add_fault(board, str(broken))
        except TrimmedLeavesError as error:
            found.add_unread(board, str(error))
        except Refusal as refusal:
            add = found.add_unread if refusal.code == Code.UNAVAILABLE else found.add_fault
            add(board, refusal.sentence)
        else:
            if match is not None:
                found.add_match(match)

    def _fitting(
        self, board: int, whole: WholeMatch | None, total: tuple[int, int]
    ) -> CheckedMatch | None:
        """Return an intact match; None for one that must be read by itself."""
        if whole is None:
            return None
        try:
            match = audit_stored(
                StoredMatch(
                    board,
                    self._shard,
                    whole.snapshot,
                    whole.events,
                    whole.outcomes,
                    locators.decode(whole.locator),
                ),
                self._leaves_at,
                anchors_in(self._store, self._shard),
                partial(self._store.kept_commands, self._shard),
                self._seeds,
            )
        except (BrokenHistory, ValueError):
            return None
        return match if self._total(match) == total else None

    def _leaves_at(self, wanted: Mapping[int, bytes | None]) -> Mapping[int, bytes]:
        """Return leaves; below `end` an event is where it should be, because the total will show it."""
        supposed = {index: event for index, event in wanted.items() if event and index < self._end}
        others = wanted.keys() - supposed.keys()
        return supposed | read_leaves(self._store, self._shard, others) if others else supposed

    def _total(self, match: CheckedMatch) -> tuple[int, int]:
        """Return how many leaves a match has below `end`, and the sum of their numbers."""
        found = NO_TOTAL
        for index, leaf in match.leaves.items():
            if index < self._end:
                number = leaf_number(self._secret, index, leaf)
                found = found[0] + 1, add_numbers(found[1], number)
        return found

    def _alone(self, board: int, total: tuple[int, int]) -> CheckedMatch | None:
        """Read and audit a match by itself; None if there is none. Raises `BrokenHistory` or `Refusal`."""
        shard = self._shard
        try:
            match = check_match(self._store, board)
        except Refusal as refusal:
            if refusal.code is not Code.UNKNOWN_BOARD:
                raise
            if total == NO_TOTAL:
                return None
            raise BrokenHistory(
                1,
                f"the log of shard {shard} has {total[0]} leaves of the match, and it does not exist",
            ) from refusal
        count, number = self._total(match)
        if (count, number) != total:
            raise BrokenHistory(
                match.events,
                f"the log of shard {shard} has {total[0]} leaves of the match up to leaf {self._end - 1}, and "
                f"its outcomes name {count}",
            )
        return match
