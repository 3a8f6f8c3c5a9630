"""The objects of the archive: the leaves of the published logs, and the directory pages beside them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, groupby
from typing import Final, TypeVar

from infra.archive.archive import ArchiveError
from infra.archive.directory_pages import DirectoryPage, page_path
from infra.log import merkle
from infra.log.key_files import LogKeyError
from infra.log.names import object_name
from infra.log.published_log import LogDamagedError, PublishedLog, PublishedLogs
from infra.log.signed_note import NoteError
from infra.log.tiles import WIDTH
from infra.objects.location import is_local, open_objects
from infra.objects.port import ObjectNotFoundError, ObjectStore, ObjectStoreError
from infra.settings.settings import Settings

AT_ONCE: Final = 16
"""Objects that are read at the same time, because a store at a cloud answers each after some ms."""

Wanted = TypeVar("Wanted")
Found = TypeVar("Found")


class PageStore:
    """Reads and replaces pages. Errors of the object store pass through, and `PageError`."""

    def __init__(self, objects: ObjectStore, *, parallel: bool = False) -> None:
        self._objects = objects
        self._threads = ThreadPoolExecutor(AT_ONCE, "pages") if parallel else None

    def map(self, read: Callable[[Wanted], Found], wanted: Iterable[Wanted]) -> Iterator[Found]:
        """Return what `read` returns for each, of several at the same time with a store that answers late."""
        return self._threads.map(read, wanted) if self._threads else map(read, wanted)

    def read(self, shards: int, shard: int, number: int) -> tuple[DirectoryPage, bytes | None]:
        """Return a page, empty if there is none, and the object that `replace` compares."""
        try:
            data = self._objects.get(object_name(shard, page_path(number)))
        except ObjectNotFoundError:
            return DirectoryPage.empty(shards, shard, number), None
        return DirectoryPage.decode(data, shards, shard, number), data

    def replace(self, page: DirectoryPage, before: bytes | None) -> None:
        """Write a page in place of the object that was read; `ObjectChangedError` if it was changed since."""
        name = object_name(page.shard, page_path(page.number))
        self._objects.replace(name, page.encode(), before)


class PublishedLeaves:
    """Leaves of the published logs, of which `log_of` returns that of a shard; thread-safe.

    Errors of the object store pass through, and what is damaged is an `ArchiveError`.
    """

    def __init__(self, log_of: Callable[[int], PublishedLog], *, parallel: bool) -> None:
        self._log_of = log_of
        self._threads = ThreadPoolExecutor(AT_ONCE, "bundles") if parallel else None

    def leaves_at(self, shard: int, indexes: Sequence[int]) -> list[bytes]:
        """Return the leaves with these indexes; each of their bundles is read once."""
        log = self._log_up_to(shard, max(indexes, default=-1))
        groups = [list(group) for _, group in groupby(sorted(indexes), lambda one: one // WIDTH)]
        read = partial(_some_of_bundle, log)
        rows = self._threads.map(read, groups) if self._threads else map(read, groups)
        found = dict(zip(chain(*groups), chain(*rows), strict=True))
        return [found[index] for index in indexes]

    def check(self, shard: int, index: int, leaf: bytes) -> None:
        """Raise `ArchiveError` unless a signed checkpoint covers this leaf at this index."""
        log = self._log_up_to(shard, index)
        try:
            hashes = log.proved_hashes(index // WIDTH)
        except LogDamagedError as error:
            raise ArchiveError(str(error)) from error
        if hashes[index % WIDTH] != merkle.leaf_hash(leaf):
            raise ArchiveError(f"leaf {index} of shard {shard} does not fit its tile of hashes")

    def _log_up_to(self, shard: int, index: int) -> PublishedLog:
        """Return the log of a shard, which has the leaf with this index."""
        try:
            log = self._log_of(shard)
            if log.size <= index and log.refresh() <= index:
                if not log.size:  # rather a disk that is not mounted than a log that was deleted
                    raise ObjectStoreError(f"there is no checkpoint of shard {shard}")
                raise ArchiveError(f"leaf {index} of shard {shard} is not published")
        except LogKeyError as error:
            raise ObjectStoreError(str(error)) from error
        except NoteError as error:
            # by a key that this process does not know yet, or the store is another
            raise ObjectStoreError(
                f"the checkpoint of shard {shard} can't be used: {error}"
            ) from error
        return log


def open_archive(settings: Settings) -> tuple[PageStore, PublishedLeaves]:
    """Return the objects of a server's archive; `ObjectStoreError` if they can't be used."""
    objects = open_objects(settings.store, settings.data)
    parallel = not is_local(settings.store)
    return PageStore(objects, parallel=parallel), PublishedLeaves(
        PublishedLogs(settings).of, parallel=parallel
    )


def _some_of_bundle(log: PublishedLog, indexes: Sequence[int]) -> list[bytes]:
    """Return leaves of one bundle, without the others, because many bundles are read together."""
    try:
        bundle = log.bundle(indexes[0] // WIDTH)
        return [bundle[index % WIDTH] for index in indexes]
    except LogDamagedError as error:
        raise ArchiveError(str(error)) from error
