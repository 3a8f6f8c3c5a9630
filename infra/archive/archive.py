"""Reading matches of the archive: the directory page, then the leaves of the published log, then checks.

What is read of a match never changes, so the last used matches and entries are kept for further readers.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from domain.errors import Code, Refusal
from infra.archive.archived_match import ArchivedMatch, ArchiveError, restore
from infra.archive.directory_pages import DirectoryEntry, DirectoryPage, page_number
from infra.objects.port import ObjectStoreError
from infra.redis.keys import shard_of
from infra.sentences import SAY
from infra.store import locators

if TYPE_CHECKING:
    from infra.archive.objects import PageStore

logger = logging.getLogger(__name__)

MATCHES_KEPT: Final = 1_000
"""Matches that a process keeps: some kB each."""

ENTRIES_KEPT: Final = 10_000
"""Entries that a process keeps: less than a kB each."""

_PAGES_KEPT: Final = 16
"""Pages that a process keeps, so that one with many wanted entries is read once: some 150 kB each."""

Found = TypeVar("Found")


class LeafSource(Protocol):
    """The leaves of the published logs."""

    def leaves_at(self, shard: int, indexes: Sequence[int]) -> list[bytes]:
        """Return the leaves with these indexes; raise `ObjectStoreError`, or `ArchiveError` if damaged."""
        ...

    def check(self, shard: int, index: int, leaf: bytes) -> None:
        """Raise `ArchiveError` unless a signed checkpoint covers this leaf at this index."""
        ...


def prove(log: LeafSource, shard: int, match: ArchivedMatch, leaves: Sequence[bytes]) -> None:
    """Raise `ArchiveError` unless a signed checkpoint covers the last event of a match, whose leaves these are.

    By the chain, a proof of the last event is one of all; refusals may follow it.
    """
    last = match.events[-1]
    log.check(shard, match.indexes[leaves.index(last)], last)


class Archive:
    """The archive of data with so many shards; thread-safe. Its objects are opened when they are needed.

    Its methods are for boards whose match is marked as in the archive. They raise `Refusal`: `damaged` if
    the archive has not what it must have, `unavailable` if it can't be read now.
    """

    def __init__(
        self, open_objects: "Callable[[], tuple[PageStore, LeafSource]]", shards: Callable[[], int]
    ) -> None:
        self._objects = lru_cache(1)(open_objects)
        self._shards = shards
        # errors are raised, so they are not kept
        self._match = lru_cache(MATCHES_KEPT)(self._read_match)
        self._entry = lru_cache(ENTRIES_KEPT)(self._read_entry)
        self._page = lru_cache(_PAGES_KEPT)(self._read_page)

    def match(self, board: int) -> ArchivedMatch:
        """Return a match, made again from its leaves and checked against its entry."""
        return self._checked(board, self._match)

    def entry(self, board: int) -> DirectoryEntry:
        """Return what the directory page has of a match."""
        return self._checked(board, self._entry)

    def entries(self, boards: Sequence[int]) -> list[DirectoryEntry]:
        """Return what the directory pages have of matches; each page is read once."""
        shards = self._shards()
        pages: dict[tuple[int, int], list[int]] = {}
        for board in boards:
            page = shard_of(board, shards), page_number(board, shards)
            pages.setdefault(page, []).append(board)

        def read(some: Sequence[int]) -> list[DirectoryEntry]:
            return [self.entry(board) for board in some]

        found = {entry.board: entry for some in self._each(read, pages.values()) for entry in some}
        return [found[board] for board in boards]

    def _each(
        self, read: Callable[[Sequence[int]], Found], groups: Iterable[Sequence[int]]
    ) -> Iterable[Found]:
        """Return what is read of each group, of several at the same time where a store answers late."""
        wanted = list(groups)
        if len(wanted) == 1:
            return map(read, wanted)
        try:
            pages, _ = self._objects()
        except ObjectStoreError:
            return map(read, wanted)  # which says so
        return pages.map(read, wanted)

    def prove(self, board: int) -> None:
        """Check that a signed checkpoint of the published log covers a match: its last event, and so all."""
        self._checked(board, self._prove)

    def _prove(self, board: int) -> None:
        match, shard = self._match(board), shard_of(board, self._shards())
        _, log = self._objects()
        prove(log, shard, match, log.leaves_at(shard, match.indexes))

    def _read_match(self, board: int) -> ArchivedMatch:
        entry = self._entry(board)
        indexes = locators.decode(entry.locator)
        _, log = self._objects()
        return restore(entry, log.leaves_at(shard_of(board, self._shards()), indexes))

    def _read_entry(self, board: int) -> DirectoryEntry:
        shards = self._shards()
        shard, number = shard_of(board, shards), page_number(board, shards)
        entry = self._page(shards, shard, number).find(board)
        if entry is None:  # it was retired after the page was read, or is gone
            self._page.cache_clear()
            entry = self._page(shards, shard, number).find(board)
        if entry is None:
            raise ArchiveError(f"page {number} of shard {shard} has no entry of match {board}")
        return entry

    def _read_page(self, shards: int, shard: int, number: int) -> DirectoryPage:
        pages, _ = self._objects()
        page, data = pages.read(shards, shard, number)
        if data is None:  # rather a disk that is not mounted than a page that was deleted
            raise ObjectStoreError(f"there is no directory page {number} of shard {shard}")
        return page

    def _checked(self, board: int, read: Callable[[int], Found]) -> Found:
        try:
            return read(board)
        except (ArchiveError, ValueError) as error:
            logger.error("ALARM: match %d can't be read from the archive: %s", board, error)  # noqa: TRY400
            raise Refusal(
                Code.DAMAGED,
                SAY("archive-damaged", board=board),
            ) from error
        except ObjectStoreError as error:
            self._objects.cache_clear()  # the keys may be others now
            logger.warning("match %d can't be read from the archive now: %s", board, error)
            raise Refusal(Code.UNAVAILABLE, SAY("archive-away")) from error
