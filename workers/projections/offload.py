"""Moves the oldest rows of long lists of finished matches from Redis to row pages.

A page is written first; then one script replaces its rows by its entry, if the list is as it was read. Killed
between the two, the next run writes the same object again. A match that is not in the archive keeps its rows in
Redis, because a ruling may still change its result or have it go on. A row that is in several lists leaves Redis when no
list needs it there any longer. Members whose rows may have become free are noted by that script, so that a run
that was killed before it looked leaves nothing behind.

Rows that came late belong into pages that exist. Then those pages are written again, under other names, and their
entries are replaced.
"""

import logging
from collections.abc import Callable, Container, Iterator, Sequence
from operator import ge
from typing import Any, Final

import msgspec
import redis

from domain.clocks.calendar import DAY
from domain.match.events import decode_event, decode_refusal, is_event
from infra.failpoints import failpoint
from infra.objects.port import ObjectStore
from infra.projections.buckets import HOLD_MS, Bucket, Checkpoint
from infra.projections.generations import Generation, Generations
from infra.projections.paged_lists import (
    OFFLOADED,
    ListKey,
    PagedLists,
    PagedRows,
    RowHolder,
    is_deleted_key,
    pages_key,
)
from infra.projections.paged_projections import KEEP_DAYS, PAGED, PagedGenerations
from infra.projections.row_pages import (
    FOLDERS,
    MOST_ROWS,
    PAGE_ROWS,
    ROWS_KEPT,
    ListedRow,
    PageEntry,
    RowPages,
    make_page,
    pack_entry,
    page_name,
    pages_folder,
    unpack_entry,
)
from infra.redis import scripts
from infra.store.port import Store

logger = logging.getLogger(__name__)

SETTLED_MS: Final = 60_000
"""How long before the rows that may still come a row must have ended, so that few come late."""

_LOOKED_AT: Final = 4 * PAGE_ROWS
"""The oldest rows of a list, among which a page's are looked for: some may be of matches not in the archive."""

_FREED: Final = 1_000
"""Rows that are looked at together."""


class RowOffload:
    """Offloads the live generations of all projections with pages; `step` until it returns None.

    `in_archive` returns which of some boards have matches in the archive. At most one run at a time works on a
    generation. Errors of the servers pass through, and `Refusal` if a page that
    is there can't be read.
    """

    def __init__(
        self,
        store: Store,
        client: redis.Redis,
        objects: ObjectStore,
        in_archive: Callable[[Sequence[int]], Container[int]],
        settled_ms: int = SETTLED_MS,
    ) -> None:
        self._store = store
        # redis-py types no answer precisely
        self._client: Any = client
        self._objects = objects
        self._in_archive = in_archive
        self._pages = RowPages(lambda: objects)
        self._settled_ms = settled_ms
        self.rows = 0
        """Rows that were moved to pages."""
        self._steps = self._all_steps()

    def step(self) -> int | None:
        """Write one page, or free or delete some; return how many rows went, None at the end."""
        return next(self._steps, None)

    def _all_steps(self) -> Iterator[int]:
        for kind in PAGED:
            generations = Generations(self._client, kind.spec)
            live = generations.live()
            if live is not None and live[0] == kind.spec.version:
                yield from self._generation(kind, generations, live[1])
            yield from self._delete_unused(kind, generations)

    def _generation(
        self, kind: PagedRows, generations: Generations, generation: Generation
    ) -> Iterator[int]:
        until = self._settled_until(generations, generation)
        for bucket in generation.all:
            for names in generations.keys_of(bucket):
                for name in filter(is_deleted_key, names):
                    self._delete_given_up(bucket, name)
                    yield 0
                for name in self._long(bucket, list(filter(kind.is_list, names))):
                    while moved := self._offload(kind, generation, ListKey(bucket, name), until):
                        self.rows += moved
                        yield moved
            yield from self._free_rows(kind, generations, generation, bucket)

    def _settled_until(self, generations: Generations, generation: Generation) -> int:
        """Return before which time, in ms, nearly no row can come any more; 0 if that is not known."""
        found = generations.checkpoints(generation)
        counts = [one.counts for one in found if one is not None]
        if len(counts) < len(found):
            return 0
        read = [min(some) for some in zip(*counts, strict=True)]
        times = [self._store.now()]
        for shard in self._store.next_leaves(dict(enumerate(read))):
            leaves = self._store.leaves(shard, read[shard], 1)
            times += [at for _, leaf in leaves for at in _time(leaf)]
        return min(times) - self._settled_ms

    def _long(self, bucket: Bucket, names: Sequence[str]) -> list[str]:
        """Return those of these lists that are too long."""
        with self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.zcard(bucket.key(name))
            sizes = pipe.execute()
        return [name for name, size in zip(names, sizes, strict=True) if size > MOST_ROWS]

    def _offload(self, kind: PagedRows, generation: Generation, one: ListKey, until: int) -> int:
        """Move the oldest rows of a list that may move to a page, if it is too long; return their number."""
        rows_key, entries_key = one.bucket.key(one.name), one.bucket.key(pages_key(one.name))
        with self._client.pipeline(transaction=True) as pipe:
            pipe.zrange(rows_key, 0, _LOOKED_AT - 1, withscores=True)
            pipe.zcard(rows_key)
            pipe.llen(entries_key)
            pipe.lindex(entries_key, -1)
            found, size, count, last = pipe.execute()
        if size <= MOST_ROWS:
            return 0
        found = self._movable(kind, found[: size - ROWS_KEPT])[:PAGE_ROWS]
        if len(found) < PAGE_ROWS or found[-1][1] >= until:
            return 0
        members = [member for member, _ in found]
        without = [ListedRow(int(at), member, b"") for member, at in found]
        lists = PagedLists(self._client, self._pages, kind)
        known = lists.rows_of(generation, [(one, row) for row in without])
        rows = [row._replace(row=each) for row, each in zip(without, known, strict=True)]
        if not all(known):
            logger.error("ALARM: %s has no row of some matches of %s", kind.spec.name, one.name)
            return 0
        replaced = self._overlapping(one, rows[0], int(count))
        for entry in replaced:
            rows += self._pages.read(one.bucket.name, one.bucket.generation, entry)
        rows.sort(key=lambda row: row.place)
        PagedGenerations(self._client, kind.spec.name).add(generation.number)
        entries = []
        for start in range(0, len(rows), PAGE_ROWS):
            entry, data = make_page(one.name, rows[start : start + PAGE_ROWS])
            self._objects.create(_name(one.bucket, entry), data)
            entries.append(pack_entry(entry))
        failpoint("offload.written")
        names = [
            one.bucket.checkpoint_key,
            one.bucket.hold_key,
            one.bucket.names_key,
            rows_key,
            entries_key,
            one.bucket.key(OFFLOADED),
        ]
        words = [count, last or b"", HOLD_MS, len(replaced), len(entries), *entries, *members]
        reply = scripts.call(self._client, scripts.OFFLOAD_ROWS, names, words)
        failpoint("offload.moved")
        return len(members) if reply == b"done" else 0

    def _movable(
        self, kind: PagedRows, found: Sequence[tuple[bytes, float]]
    ) -> list[tuple[bytes, float]]:
        """Return the members, with their scores, of matches in the archive."""
        archived = self._in_archive([kind.board_of(member) for member, _ in found])
        return [(member, at) for member, at in found if kind.board_of(member) in archived]

    def _overlapping(self, one: ListKey, oldest: ListedRow, count: int) -> list[PageEntry]:
        """Return the entries of the pages that have rows later than the oldest one to move."""
        found = []
        for number in range(count - 1, -1, -1):
            data = self._client.lindex(one.bucket.key(pages_key(one.name)), number)
            if data is None or unpack_entry(data).last < oldest.place:
                break
            found.append(unpack_entry(data))
        return found

    def _free_rows(
        self, kind: PagedRows, generations: Generations, generation: Generation, bucket: Bucket
    ) -> Iterator[int]:
        """Delete the rows of members that have left a list and that no other list needs."""
        key = bucket.key(OFFLOADED)
        while members := self._client.lrange(key, 0, _FREED - 1):
            mine = generations.checkpoint(bucket)
            # what the lists of a bucket that is behind need is not known yet
            if mine is None or not _have_read(generations.checkpoints(generation), mine):
                return
            self._delete_free(kind, self._holders(kind, generation, bucket, members))
            failpoint("offload.freed")
            self._client.ltrim(key, len(members), -1)
            yield 0

    def _holders(
        self, kind: PagedRows, generation: Generation, bucket: Bucket, members: Sequence[bytes]
    ) -> list[tuple[int, RowHolder]]:
        """Return the buckets that have rows of these members, each with the board."""
        boards = list(dict.fromkeys(map(kind.board_of, members)))
        with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                pipe.hget(kind.row_bucket(generation, bucket, board).key(kind.rows), board)
            rows = pipe.execute()
        return [
            (board, holder)
            for board, row in zip(boards, rows, strict=True)
            if row is not None
            for holder in kind.holders(generation, row)
        ]

    def _delete_free(self, kind: PagedRows, holders: Sequence[tuple[int, RowHolder]]) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            for _, holder in holders:
                for one, member in holder.lists:
                    pipe.zscore(one.bucket.key(one.name), member)
            scores = iter(pipe.execute())
            for board, holder in holders:
                if all(score is None for score in [next(scores) for _ in holder.lists]):
                    pipe.hdel(holder.bucket.key(kind.rows), board)
            pipe.execute()

    def _delete_given_up(self, bucket: Bucket, name: str) -> None:
        """Delete the pages of a deleted account's list."""
        key = bucket.key(name)
        for data in self._client.lrange(key, 0, -1):
            self._objects.delete(_name(bucket, unpack_entry(data)))
        self._client.unlink(key)
        self._client.srem(bucket.names_key, name)

    def _delete_unused(self, kind: PagedRows, generations: Generations) -> Iterator[int]:
        """Delete the pages of generations that were replaced long ago."""
        paged = PagedGenerations(self._client, kind.spec.name)
        unused = paged.all()
        for one in generations.stored():
            unused.pop(one.number, None)
        now = self._store.now()
        for number, since in unused.items():
            if not since:
                paged.mark_unused(number, now)
            elif now - since >= KEEP_DAYS * DAY:
                for folder in range(FOLDERS):
                    for name in self._objects.names(pages_folder(kind.spec.name, number, folder)):
                        self._objects.delete(name)
                    yield 0
                paged.remove(number)


def _have_read(others: Sequence[Checkpoint | None], mine: Checkpoint) -> bool:
    """Return whether all buckets have read what one has."""
    return all(one is not None and all(map(ge, one.counts, mine.counts)) for one in others)


def _name(bucket: Bucket, entry: PageEntry) -> str:
    return page_name(bucket.name, bucket.generation, entry.digest)


def _time(leaf: bytes) -> list[int]:
    """Return the time of a leaf in ms; none if it has no time or can't be read."""
    try:
        return [decode_event(leaf).at if is_event(leaf) else decode_refusal(leaf).at]
    except msgspec.MsgspecError:
        return []
