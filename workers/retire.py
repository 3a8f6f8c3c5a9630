"""Retiring matches and tournaments, which are called matches here: those that ended long ago leave Redis, and their leaves in the published log remain.

First the match is made again from its leaves and compared with all that Redis has of it, then the
directory page is written, then Redis forgets it, and then its row in the lists. Killed in between, Redis and the page
have the match, and Redis wins. A match that can't be made again stays, and an alarm says why. So does, without one, a match with
a claim that waits for a ruling, or with a ruling against which an appeal is possible.

The job that retires the matches of a shard, and its hourly request by the scheduler.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import redis

from domain import aggregates
from domain.clocks.time_control import DAY
from domain.errors import Refusal
from domain.match.disputes import may_be_ruled_on
from domain.match.history import decode_refusal
from domain.match.state import MatchState
from infra.archive.archive import (
    ArchivedMatch,
    ArchiveError,
    LeafSource,
    describe,
    prove,
    require_same,
    restore,
)
from infra.archive.directory_pages import DirectoryEntry, page_number
from infra.archive.objects import PageStore
from infra.health.retirement_limits import retirement_limits
from infra.process.failpoints import failpoint
from infra.process.intervals import every
from infra.redis.rq_jobs import MAINTENANCE, RETIRE
from infra.settings.settings import Settings
from infra.store import locators
from infra.store.job_notes import note_retire_run
from infra.store.outcomes import parse
from infra.store.port import Store
from infra.store.refused_commands import RefusedId
from infra.store.rq_wakeup import LeasedJob, WakeupJob
from infra.store.watermarks import read_published_sizes
from workers.archived_rows import ArchivedRows, has_leftovers
from workers.job_report import report
from workers.leased_run import LeasedRun, LeasedWork

logger = logging.getLogger(__name__)

READ_TOGETHER: Final = 10_000
"""Boards that are looked at together, so that those of a page are written together."""


class Retirement(LeasedWork):
    """The retirement of a shard's matches, as the work of a run under a lease.

    `limit` returns below which index the leaves of the shard are published and read by all who read them;
    only matches whose leaves are all below it are retired. `after_ms` is the time since their end.
    """

    def __init__(
        self,
        store: Store,
        pages: PageStore,
        log: LeafSource,
        shard: int,
        *,
        limit: Callable[[], int],
        after_ms: int,
        rows: ArchivedRows,
    ) -> None:
        self._store = store
        self._pages = pages
        self._log = log
        self._shard = shard
        self._limit = limit
        self._after_ms = after_ms
        self._rows = rows
        self._by_page: dict[int, list[int]] = {}
        """The boards to look at next, by page."""
        self.kept: set[int] = set()
        """Boards that this run has looked at, and that stay in Redis."""
        self.retired = 0

    def step(self) -> int | None:
        """Retire the matches of one page, or take out rows that were left; None if nothing is left to look at."""
        if not self._by_page:
            self._by_page = self._next_boards()
        if not self._by_page:
            return self._rows.take_leftovers()
        number = next(iter(self._by_page))
        boards = self._by_page.pop(number)
        done = self._retire(number, boards)
        self.kept |= set(boards) - done
        self.retired += len(done)
        return len(boards)

    def has_more(self) -> bool:
        """Return whether boards are left that this run has not looked at."""
        return bool(self._by_page or self._next_boards())

    def _next_boards(self) -> dict[int, list[int]]:
        if not self._limit():
            return {}  # nothing is published
        until = self._store.now() - self._after_ms
        count = READ_TOGETHER + len(self.kept)
        found = self._store.ended_boards(self._shard, until, count)
        by_page: dict[int, list[int]] = defaultdict(list)
        for board in found:
            if board not in self.kept:
                by_page[page_number(board, self._store.shards)].append(board)
        return by_page

    def _retire(self, number: int, boards: Sequence[int]) -> set[int]:
        """Retire matches of a page, and return those that were."""
        matches = self._published(boards, self._limit())
        leaves = self._leaves(matches)
        entries = [
            entry
            for board, match in matches.items()
            if (entry := self._entry(board, match, leaves)) is not None
        ]
        if not entries:
            return set()
        refused = {one.board: self._refused(one, leaves) for one in entries if one.refusals}
        page, before = self._pages.read(self._store.shards, self._shard, number)
        self._pages.replace(page.with_entries(entries), before)
        failpoint("retire.written")
        removed = self._store.retire(
            [(entry.board, entry.head, locators.decode(entry.locator)) for entry in entries],
            refused,
        )
        failpoint("retire.removed")
        retired = {entry.board for entry, done in zip(entries, removed, strict=True) if done}
        self._rows.take(sorted(retired))
        return retired

    def _refused(self, entry: DirectoryEntry, read: Mapping[int, bytes]) -> list[RefusedId]:
        """Return the commands that were refused in a match, which the archive does not keep."""
        indexes = [parse(stored).index for _, stored in entry.refusals]
        leaves = map(decode_refusal, self._read(indexes, read))
        return [RefusedId(leaf.actor, leaf.command) for leaf in leaves]

    def _read(self, indexes: Sequence[int], read: Mapping[int, bytes]) -> list[bytes]:
        """Return the leaves with these indexes, of those that were read already if any were."""
        if read:
            return [read[index] for index in indexes]
        return self._log.leaves_at(self._shard, indexes)

    def _published(self, boards: Sequence[int], limit: int) -> dict[int, ArchivedMatch]:
        """Return the matches in Redis whose leaves are all below the limit."""
        found, now = {}, self._store.now()
        for board, stored in zip(boards, self._store.whole_matches(boards), strict=True):
            if stored is None:
                continue
            with _kept_if_wrong(board):
                match = ArchivedMatch(
                    stored.snapshot,
                    stored.events,
                    stored.outcomes,
                    locators.decode(stored.locator),
                )
                if match.indexes[-1] < limit and not _is_disputed(match, now):
                    found[board] = match
        return found

    def _leaves(self, matches: Mapping[int, ArchivedMatch]) -> Mapping[int, bytes]:
        """Return the leaves of all matches, by their indexes; none if one can't be read.

        Together, because matches of one page have many bundles in common.
        """
        indexes = sorted({index for match in matches.values() for index in match.indexes})
        try:
            return dict(zip(indexes, self._log.leaves_at(self._shard, indexes), strict=True))
        except ArchiveError:  # each match is read by itself, so that the others can be retired
            return {}

    def _entry(
        self, board: int, match: ArchivedMatch, read: Mapping[int, bytes]
    ) -> DirectoryEntry | None:
        """Return the entry of a match that can be made again from the published log; else None."""
        with _kept_if_wrong(board):
            leaves = self._read(match.indexes, read)
            entry = describe(board, match)
            require_same(board, match, restore(entry, leaves, with_position=False))
            prove(self._log, self._shard, match, leaves)
            return entry
        return None


def _is_disputed(match: ArchivedMatch, now: int) -> bool:
    """Return whether a ruling or an appeal may still come, because the archive takes neither."""
    state = aggregates.unpack(match.snapshot).state
    return isinstance(state, MatchState) and may_be_ruled_on(state, now)


@contextmanager
def _kept_if_wrong(board: int) -> Iterator[None]:
    """Raise an alarm for a match that can't be made again from the published log."""
    try:
        yield
    except (ArchiveError, Refusal, ValueError, LookupError, TypeError) as error:
        logger.error("ALARM: match %d stays in Redis: %s", board, error)  # noqa: TRY400


LEASE_MS: Final = 60_000
"""How long a lease lasts: a step, which writes one page, must not take longer."""

HOUR_SECONDS: Final = 3_600.0
"""Between two requests."""

MINUTE_SECONDS: Final = 60.0
"""The same while the log of a match that is due is not published yet."""

JOB_SECONDS: Final = 600
"""A run that takes so long is stuck."""


def retire_job(shard: int) -> LeasedJob:
    """Return the job that retires matches of a shard."""
    about = f"retire matches of shard {shard}"
    job = WakeupJob(MAINTENANCE, RETIRE, JOB_SECONDS, about, [shard])
    return LeasedJob(job, f"retire/{shard}", LEASE_MS)


class RetireWakeup:
    """Requests the retirement of shards in which it is due; call `tick` once a second.

    A match is due so many days after its end, where its shard's log is published. If rows are left of matches that
    are in the archive, one of the runs takes them out.
    """

    def __init__(self, store: Store, data: redis.Redis, queue: redis.Redis, days: int) -> None:
        self._store = store
        self._data = data
        self._queue = queue
        self._after_ms = days * DAY
        self.tick = every(HOUR_SECONDS, self._look)

    def _look(self) -> float:
        """Request what is due; return when to look again: sooner while the log of a match is not published yet."""
        again = HOUR_SECONDS
        until = self._store.now() - self._after_ms
        shards = self._store.shards
        if has_leftovers(self._data, shards):
            retire_job(0).request(self._queue)
        published = read_published_sizes(self._data, shards)
        for shard, record in enumerate(published):
            if not self._store.ended_boards(shard, until, 1):
                continue
            if record.size:
                retire_job(shard).request(self._queue)
            else:
                again = MINUTE_SECONDS
        return again


def run(
    settings: Settings,
    store: Store,
    data: redis.Redis,
    queue: redis.Redis,
    shard: int,
    stopping: Callable[[], bool] = lambda: False,
) -> int:
    """Retire the matches of a shard that are due, for half a minute at most; return their number.

    `ObjectStoreError` if the archive can't be used.
    """
    shards = store.shards
    mail = settings.relay is not None
    from infra.archive.objects import open_archive  # noqa: PLC0415 - the scheduler does not need it

    pages, log = open_archive(settings)
    work = Retirement(
        store,
        pages,
        log,
        shard,
        limit=lambda: retirement_limits(data, shards, mail=mail)[shard],
        after_ms=settings.archive_after * DAY,
        rows=ArchivedRows(data, shards),
    )
    job = retire_job(shard)
    leased = LeasedRun("retire", job.leases(queue), job.lease, stopping)
    leased.run(work)
    kept = len(work.kept)
    if work.retired or kept:
        note_retire_run(queue, shard, retired=work.retired, kept=kept, seconds=leased.seconds)
    report(shard=shard, retired=work.retired, kept=kept)
    return work.retired
