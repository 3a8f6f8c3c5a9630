"""The notices of players as they arrive: one query at a time, for all watchers.

Notices reach the lists of their accounts out of order. A stream that can be resumed by the id of its
last notice needs them in order. So it sends only notices older than the watermark of the logs, once
the projection has read that far: no older notice can follow.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Final, Protocol

import msgspec
import redis

from domain.records import AccountId
from infra.projections.buckets import NOTICES
from infra.projections.generations import Generations
from infra.projections.notices import NoticePosition, NoticesAfter, PlayerNotice, position_of
from infra.store.port import Watermark
from services.http.streams.limits import WhileWatched

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 0.5
"""Pause between two queries while somebody watches."""

MAX_LAG_SECONDS: Final = 15.0
"""The longest that the projection may lag; after that, its notices are sent all the same.

Otherwise a leaf that it can't apply would stop all streams. Its own notice is missing then."""


class WatermarkSource(Protocol):
    """A store that knows up to which time its logs are complete."""

    def watermark(self, beyond: int = 0) -> Watermark:
        """See `Store.watermark`."""
        ...


class NoticeSource(Protocol):
    """The notices of accounts."""

    def since(self, wanted: Mapping[AccountId, NoticePosition]) -> dict[AccountId, NoticesAfter]:
        """See `AccountNotices.since`."""
        ...


class NoticeWatermark:
    """The time before which all notices have arrived. For one thread at a time."""

    def __init__(
        self,
        store: WatermarkSource,
        counts: Callable[[], Sequence[int]],
        timer: Callable[[], float],
    ) -> None:
        self._store = store
        self._counts = counts
        self._timer = timer
        self._mark: Watermark | None = None
        self._since = 0.0
        self._newest = 0
        """The time of the newest notice that waits, ms."""

    def require(self, newest: int) -> None:
        """Note a notice that waits until the time is beyond its own, in ms."""
        self._newest = max(self._newest, newest)

    def poll(self) -> int | None:
        """Return that time in ms; None while it has not advanced since the last call."""
        if self._mark is None:
            self._mark, self._since = self._store.watermark(self._newest), self._timer()
        mark = self._mark
        read = zip_longest(self._counts(), mark.ends, fillvalue=0)
        has_read = all(count >= end for count, end in read)
        if not has_read and self._timer() - self._since < MAX_LAG_SECONDS:
            return None
        if not has_read:
            logger.warning("the list of notices lags by more than %d s", MAX_LAG_SECONDS)
        self._mark = None
        return mark.at


def leaf_counts_of(client: redis.Redis) -> Callable[[], Sequence[int]]:
    """Return a function that returns how many leaves of each shard's log all buckets have read."""
    generations = Generations(client, NOTICES)

    def counts() -> Sequence[int]:
        live = generations.live()
        found = generations.checkpoints(live[1]) if live else []
        counts = [one.counts for one in found if one is not None]
        return list(map(min, zip(*counts, strict=True))) if len(counts) == len(found) else ()

    return counts


class NoticeGap(msgspec.Struct, frozen=True):
    """Notices may be missing here, because only the newest are kept."""

    after: NoticePosition
    """The last notice before the gap."""
    since: int
    """The time, in ms, of the oldest notice that is kept."""


class _NoticeSubscriber:
    """A watcher: the place of its last notice, and the notices that wait for it."""

    def __init__(self, after: NoticePosition) -> None:
        self.after = after
        self.queue: asyncio.Queue[PlayerNotice | NoticeGap] = asyncio.Queue()

    def deliver(self, found: NoticesAfter, horizon: int) -> None:
        """Queue the notices that are new to this watcher and older than the horizon."""
        oldest = found.oldest
        if oldest and self.after < oldest and oldest[0] < horizon:
            self.queue.put_nowait(NoticeGap(self.after, oldest[0]))
        new = [one for one in found.notices if self.after < position_of(one) and one.at < horizon]
        for notice in sorted(new, key=position_of):
            self.queue.put_nowait(notice)
        if new:
            self.after = max(map(position_of, new))


class NoticeStream(WhileWatched[AccountId, _NoticeSubscriber]):
    """Reads the notices of watched accounts, and passes each watcher those that are new to it."""

    def __init__(
        self, boxes: NoticeSource, horizon: NoticeWatermark, look_seconds: float = POLL_SECONDS
    ) -> None:
        super().__init__("reading notices", look_seconds)
        self._source = boxes
        self._watermark = horizon

    async def notices(
        self, account: AccountId, after: NoticePosition, idle: float
    ) -> AsyncIterator[PlayerNotice | NoticeGap | None]:
        """Yield an account's notices after a place in their order, without end.

        A gap comes before the first notice if older ones may have been dropped. After `idle` seconds
        without a notice it yields None, so that the caller can check whether its client is still
        connected.
        """
        watch = _NoticeSubscriber(after)
        with self._watching(account, watch):
            while True:
                try:
                    yield await asyncio.wait_for(watch.queue.get(), idle)
                except TimeoutError:
                    yield None

    async def _run_once(self) -> None:
        horizon = await asyncio.to_thread(self._watermark.poll)
        if horizon is None:
            return
        # a watcher that joins during the read may need more than is read
        watchers = {account: list(watches) for account, watches in self._watchers.items()}
        wanted = {
            account: min(watch.after for watch in watches) for account, watches in watchers.items()
        }
        found = await asyncio.to_thread(self._source.since, wanted)
        for account, notices in found.items():
            self._watermark.require(max((one.at for one in notices.notices), default=0))
            for watch in watchers[account]:
                watch.deliver(notices, horizon)
