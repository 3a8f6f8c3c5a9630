"""Trims the events of matches in Redis that are in the published log.

An event is removed only after its leaf was read from the published log, verified, and has the same bytes.
Whatever reads the match gets it from there again.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec
import redis

from domain.match.events import decode_event
from infra.failpoints import failpoint
from infra.log.key_files import LogKeyError
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.signed_note import NoteError
from infra.log.tiles import WIDTH
from infra.objects.port import ObjectStoreError
from infra.redis import keys, scripts
from infra.store.published_sizes import read_published_sizes, record_trimmed_events

logger = logging.getLogger(__name__)

CHUNK: Final = 4 * WIDTH
"""Leaves of a shard whose events are trimmed together."""

MOST_SECONDS: Final = 5.0
"""How long one call goes on, because nothing is published meanwhile; the next one continues."""


class EventTrimmer:
    """Trims events; `log_of` returns the published log of a shard of the data of `client`."""

    def __init__(
        self, client: redis.Redis, log_of: Callable[[int], PublishedLog], bundle: int = WIDTH
    ) -> None:
        self._client = client
        self._log_of = log_of
        self._bundle = bundle
        """Leaves in bundles with fewer are not trimmed, because those are written again."""

    def trim(self, shards: int, seconds: float = MOST_SECONDS) -> int:
        """Trim what was published since the last call; return how many events were removed.

        Of a shard whose data contradict what is published, everything stays.
        """
        end = time.monotonic() + seconds
        removed = 0
        for shard, one in enumerate(read_published_sizes(self._client, shards)):
            until = one.size // self._bundle * self._bundle
            start = one.trimmed_events
            while not one.fault and start < until and time.monotonic() < end:
                try:
                    removed += self._trim(shard, start, min(start + CHUNK, until))
                except (LogDamagedError, LogKeyError, NoteError, ObjectStoreError) as error:
                    logger.warning("the events of shard %d stay in Redis for now: %s", shard, error)
                    break
                start += CHUNK
        return removed

    def _trim(self, shard: int, start: int, end: int) -> int:
        log = self._log_of(shard)
        if log.size < end and log.refresh() < end:
            raise ObjectStoreError(f"only {log.size} of its leaves are in the object store")
        newest: dict[int, bytes] = {}
        for leaf in log.leaves(start, end):
            with suppress(msgspec.MsgspecError):  # no event, or damaged before it was published
                newest[decode_event(leaf).match] = leaf
        calls: list[scripts.Call] = [
            (scripts.TRIM_EVENTS, [keys.events(shard, board)], [leaf])
            for board, leaf in newest.items()
        ]
        failpoint("trim.read")
        removed = sum(map(int, scripts.call_all(self._client, calls)))
        failpoint("trim.removed")
        record_trimmed_events(self._client, shard, end)
        return removed
