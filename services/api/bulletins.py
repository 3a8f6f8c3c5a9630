"""What happens in players' matches, as it comes: one look a moment, for all who watch.

Notices come to the lists of their accounts in no order. A stream that is to be resumed by the id
of the last one needs them in theirs, so it is sent what is older than a time at which everything
older is in: the watermark of the logs, once the list has read as far.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import zip_longest
from types import TracebackType
from typing import Final, Protocol, Self

import msgspec
import redis
from redis.exceptions import RedisError

from domain.match.events import AccountId
from infra.projections.notices import Kept, Notice, Place, place_of
from infra.projections.shelf import Shelf
from infra.projections.specs import NOTICES
from infra.store.port import Watermark

logger = logging.getLogger(__name__)

LOOK_SECONDS: Final = 0.5
"""How often it is looked while somebody watches."""

PATIENCE_SECONDS: Final = 15.0
"""How long the list may lag before what it has is sent all the same: a leaf that it can't take in
may never come, and is then missing here too."""


class Marked(Protocol):
    """What tells up to when the logs are complete."""

    def watermark(self) -> Watermark:
        """See `Store.watermark`."""
        ...


class Boxes(Protocol):
    """The notices of accounts."""

    def since(self, account: AccountId, after: Place) -> Kept:
        """See `AccountNotices.since`."""
        ...


class Horizon:
    """Up to when all notices are in. For one thread at a time."""

    def __init__(
        self, store: Marked, counts: Callable[[], Sequence[int]], timer: Callable[[], float]
    ) -> None:
        self._store = store
        self._counts = counts
        self._timer = timer
        self._mark: Watermark | None = None
        self._since = 0.0

    def look(self) -> int | None:
        """Return the time, in ms, before which all is in; None when no more is than was before."""
        if self._mark is None:
            self._mark, self._since = self._store.watermark(), self._timer()
        mark = self._mark
        read = zip_longest(self._counts(), mark.ends, fillvalue=0)
        has_read = all(count >= end for count, end in read)
        if not has_read and self._timer() - self._since < PATIENCE_SECONDS:
            return None
        if not has_read:
            logger.warning("the list of notices lags by more than %d s", PATIENCE_SECONDS)
        self._mark = None
        return mark.at


def counts_of(client: redis.Redis) -> Callable[[], Sequence[int]]:
    """Return a function that tells of how many leaves of each shard's log the notices know."""
    shelf = Shelf(client, NOTICES)

    def counts() -> Sequence[int]:
        live = shelf.live()
        checkpoint = shelf.checkpoint(live[1]) if live else None
        return checkpoint.counts if checkpoint else ()

    return counts


class Gap(msgspec.Struct, frozen=True):
    """Notices may be missing here: more came than are kept."""

    after: Place
    """The last one that was told before."""
    since: int
    """The time, in ms, of the oldest notice that is kept."""


class Bulletins:
    """Looks for news of the accounts that are watched, and tells who watches them."""

    def __init__(self, boxes: Boxes, horizon: Horizon, look_seconds: float = LOOK_SECONDS) -> None:
        self._boxes = boxes
        self._horizon = horizon
        self._look_seconds = look_seconds
        self._watching: dict[AccountId, set[_Watch]] = defaultdict(set)
        self._joined = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    async def notices(
        self, account: AccountId, after: Place, idle: float
    ) -> AsyncIterator[Notice | Gap | None]:
        """Return an account's notices after a place in their order, for ever.

        A gap comes before the first that is kept where others may have been before it. After `idle` seconds without one it gives None, so that the caller can see whether anybody
        still listens.
        """
        with self._watch(account, after) as watch:
            while True:
                try:
                    yield await asyncio.wait_for(watch.news.get(), idle)
                except TimeoutError:
                    yield None

    @contextmanager
    def _watch(self, account: AccountId, after: Place) -> Iterator["_Watch"]:
        watch = _Watch(after)
        self._watching[account].add(watch)
        self._joined.set()
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            yield watch
        finally:
            self._watching[account].discard(watch)
            if not self._watching[account]:
                del self._watching[account]

    async def _look(self) -> None:
        try:
            while self._watching:
                try:
                    await self._look_once()
                except (RedisError, OSError, LookupError) as error:
                    logger.warning("notices can't be looked for (%s); trying again", error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._joined.wait(), self._look_seconds)
        finally:
            self._looking = None

    async def _look_once(self) -> None:
        self._joined.clear()  # whoever joins from now on is looked for next
        horizon = await asyncio.to_thread(self._horizon.look)
        if horizon is None:
            return
        # who comes while it is read may have to be told of more than is read
        watching = {account: list(watches) for account, watches in self._watching.items()}
        wanted = {
            account: min(watch.after for watch in watches) for account, watches in watching.items()
        }
        found = await asyncio.to_thread(self._read, wanted)
        for account, kept in found.items():
            for watch in watching[account]:
                watch.tell(kept, horizon)

    def _read(self, wanted: Mapping[AccountId, Place]) -> dict[AccountId, Kept]:
        return {account: self._boxes.since(account, after) for account, after in wanted.items()}


class _Watch:
    """One who watches: what was told last, and what is to be told."""

    def __init__(self, after: Place) -> None:
        self.after = after
        self.news: asyncio.Queue[Notice | Gap] = asyncio.Queue()

    def tell(self, kept: Kept, horizon: int) -> None:
        """Tell what is new to this one, of what is older than the horizon."""
        oldest = kept.oldest
        if oldest and self.after < oldest and oldest[0] < horizon:
            self.news.put_nowait(Gap(self.after, oldest[0]))
        new = [one for one in kept.notices if self.after < place_of(one) and one.at < horizon]
        for notice in sorted(new, key=place_of):
            self.news.put_nowait(notice)
        if new:
            self.after = max(map(place_of, new))
