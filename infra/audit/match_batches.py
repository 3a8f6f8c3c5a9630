"""The check of many matches of a shard at once: they are read in few round trips, and no leaf is read twice.

A match is checked as `infra.audit.stored_match` does, but its events are not compared with the log leaf by leaf: the
total of its leaves is compared with the one that the scan of the log has found. A match that does not fit, or
was written to while it was read, is read again by itself, which finds the first fault.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from redis.exceptions import ResponseError

from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory
from domain.match.refused_commands import NotDecidedAgain
from infra.audit.checked_refusals import holds_but
from infra.audit.draws import KnownSeeds
from infra.audit.leaf_totals import NO_TOTAL, TotalsSlice, add_numbers, leaf_number
from infra.audit.shard_log import ShardLog
from infra.audit.stored_match import CheckedMatch, StoredMatch, check_match, check_stored
from infra.store import locators
from infra.store.port import Store
from infra.store.trimmed_leaves import TrimmedLeavesError
from infra.store.whole_matches import WholeMatch

AT_ONCE: Final = 32
"""Matches that are read in one round trip, so that the server is never busy for long."""


class CheckedMatches(msgspec.Struct):
    """Some matches as their check has found them."""

    matches: int = 0
    events: int = 0
    refusals: Counter[NotDecidedAgain | None] = msgspec.field(default_factory=Counter)
    faults: dict[int, str] = msgspec.field(default_factory=dict)
    """The first fault of each damaged match."""
    unexplained: dict[int, str] = msgspec.field(default_factory=dict)
    """The first refusal that can't be explained, of each match that has one and holds in all else."""
    unread: dict[int, str] = msgspec.field(default_factory=dict)
    """Why matches could not be read now, which is no fault of theirs."""

    def sentences(self) -> Iterator[str]:
        """Return a sentence for each match that does not hold, or not in all."""
        for board, why in sorted(self.faults.items()):
            yield f"match {board} does not hold: {why}"
        for board, why in sorted(self.unexplained.items()):
            yield holds_but(board, why)

    def add(self, other: "CheckedMatches") -> None:
        """Add what another check has found."""
        self.matches += other.matches
        self.events += other.events
        self.refusals += other.refusals
        self.faults |= other.faults
        self.unexplained |= other.unexplained
        self.unread |= other.unread


class _TotalledLog(ShardLog):
    """The log of a shard, of which the leaves below `end` are known by their total."""

    def __init__(
        self, store: Store, board: int, end: int, secret: bytes, seeds: KnownSeeds
    ) -> None:
        super().__init__(store, board)
        self.seeds = seeds
        self._end = end
        self._secret = secret

    def read(self, indexes: Iterable[tuple[int, bool]]) -> None:
        """Read the leaves of refusals, and those that came later."""
        super().read(row for row in indexes if row[1] or row[0] >= self._end)

    def has(self, index: int, event: bytes, seq: int) -> bool:
        """Return whether the leaf is this event; below `end` the total will show it."""
        return index < self._end or super().has(index, event, seq)

    def total(self, match: CheckedMatch) -> tuple[int, int]:
        """Return how many leaves a match has below `end`, and the sum of their numbers."""
        found = NO_TOTAL
        for index, leaf in match.leaves.items():
            if index < self._end:
                number = leaf_number(self._secret, index, leaf)
                found = found[0] + 1, add_numbers(found[1], number)
        return found


class MatchBatches:
    """Checks matches of one shard whose log was scanned up to `end`. Errors of the data's server pass through."""

    def __init__(self, store: Store, shard: int, end: int, secret: bytes) -> None:
        self._store = store
        self._shard = shard
        self._shards = store.layout().shards
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
        log = _TotalledLog(self._store, board, self._end, self._secret, self._seeds)
        match = self._fitting(log, whole, total)
        if match is None:
            try:
                match = self._alone(log, total)
            except BrokenHistory as broken:
                found.faults[board] = str(broken)
            except TrimmedLeavesError as error:
                found.unread[board] = str(error)
            except Refusal as refusal:
                if refusal.code == Code.UNAVAILABLE:
                    found.unread[board] = refusal.sentence
                else:
                    found.faults[board] = refusal.sentence
        if match is not None:
            found.events += match.events
            found.refusals += Counter(match.refusals)
            if match.unexplained:
                found.unexplained[board] = str(match.unexplained)
        found.matches += match is not None or board in found.faults or board in found.unread

    def _fitting(
        self, log: _TotalledLog, whole: WholeMatch | None, total: tuple[int, int]
    ) -> CheckedMatch | None:
        """Return an intact match; None for one that must be read by itself."""
        if whole is None:
            return None
        try:
            indexes = locators.decode(whole.locator)
            match = check_stored(
                StoredMatch(whole.snapshot, whole.events, whole.outcomes, indexes), log
            )
        except (BrokenHistory, ValueError):
            return None
        return match if log.total(match) == total else None

    def _alone(self, log: _TotalledLog, total: tuple[int, int]) -> CheckedMatch | None:
        """Read and check a match by itself; None if there is none. Raises `BrokenHistory` or `Refusal`."""
        try:
            match = check_match(self._store, log.board)
        except Refusal as refusal:
            if refusal.code is not Code.UNKNOWN_BOARD:
                raise
            if total == NO_TOTAL:
                return None
            raise BrokenHistory(
                1,
                f"the log of shard {log.shard} has {total[0]} leaves of the match, and it does not exist",
            ) from refusal
        count, number = log.total(match)
        if (count, number) != total:
            raise BrokenHistory(
                match.events,
                f"the log of shard {log.shard} has {total[0]} leaves of the match up to leaf {self._end - 1}, and "
                f"its outcomes name {count}",
            )
        return match
