"""Row pages: objects with the oldest rows of a list of finished matches.

A list keeps its newest rows in Redis; older ones are in pages of 256 rows, in the order of the list. A page
never changes, and is named after the digest of its bytes, so that a writer who was cut off writes the same
object again, and no two writers can want different bytes under one name. Of each page Redis has an entry.
Rows have accounts by their ids, and no names.
"""

import logging
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

from domain.errors import Code, Refusal
from infra.objects.port import ObjectNotFoundError, ObjectStore, ObjectStoreError
from infra.sentences import SAY

logger = logging.getLogger(__name__)

PAGE_ROWS: Final = 256
"""Rows of a page."""

ROWS_KEPT: Final = 500
"""The newest rows of a list, which stay in Redis."""

MOST_ROWS: Final = ROWS_KEPT + PAGE_ROWS
"""A list with more rows in Redis than these loses its oldest ones to a page."""

VERSION: Final = 1
"""Of the format; pages of another are refused."""

FOLDERS: Final = 256
"""Folders of a generation's pages."""

_PAGES_CACHED: Final = 128
"""Pages that a process keeps: some 80 kB each."""

_LEVEL: Final = 6

Place = tuple[int, bytes]
"""The place of a row in its list: the time of the end in ms, and the member of the sorted set."""


class ListedRow(NamedTuple):
    """A row of a list."""

    at: int
    """When the match ended, ms."""
    member: bytes
    """Its member of the list's sorted set."""
    row: bytes
    """Packed as in Redis."""

    @property
    def place(self) -> Place:
        """Return its place in the list."""
        return self.at, self.member


class PageEntry(msgspec.Struct, frozen=True, array_like=True):
    """The entry of a page in Redis."""

    digest: bytes
    """16 bytes of the SHA-256 of the object."""
    first: Place
    """Of its oldest row."""
    last: Place
    """Of its newest row."""


class _Page(msgspec.Struct, frozen=True, array_like=True):
    version: int
    name: str
    """The key of the list, so that no two lists have a page in common, even with the same rows."""
    rows: tuple[ListedRow, ...]


pack_entry: Final = msgspec.msgpack.Encoder().encode
unpack_entry: Final = msgspec.msgpack.Decoder(PageEntry).decode
_decode: Final = msgspec.msgpack.Decoder(_Page).decode


def pages_folder(projection: str, generation: int, number: int) -> str:
    """Return one of the folders with the pages of a generation."""
    return f"rows/{projection}/{generation}/{number:02x}"


def page_name(projection: str, generation: int, digest: bytes) -> str:
    """Return the name of a page's object."""
    return f"{pages_folder(projection, generation, digest[0])}/{digest[1:].hex()}"


def make_page(name: str, rows: Sequence[ListedRow]) -> tuple[PageEntry, bytes]:
    """Return the entry and the object of a page of a list with these rows, the oldest first."""
    data = zlib.compress(msgspec.msgpack.encode(_Page(VERSION, name, tuple(rows))), _LEVEL)
    digest = sha256(data).digest()[:16]
    return PageEntry(digest, rows[0].place, rows[-1].place), data


def read_page(data: bytes, entry: PageEntry) -> tuple[ListedRow, ...]:
    """Return the rows of a page, the oldest first; ValueError if it is damaged."""
    if sha256(data).digest()[:16] != entry.digest:
        raise ValueError("its bytes do not fit its name")
    page = _decode(zlib.decompress(data))
    if page.version != VERSION:
        raise ValueError(f"it has version {page.version}, and this program reads {VERSION}")
    return page.rows


class RowPages:
    """Reads pages; thread-safe. The object store is opened when it is needed.

    It raises `Refusal`: `damaged` if a page is not as it was written, `unavailable` if it can't be read now.
    """

    def __init__(self, open_objects: Callable[[], ObjectStore]) -> None:
        self._open = open_objects
        # errors are raised, so they are not kept
        self._cached = lru_cache(_PAGES_CACHED)(self._read)

    def read(self, projection: str, generation: int, entry: PageEntry) -> tuple[ListedRow, ...]:
        """Return the rows of a page, the oldest first."""
        name = page_name(projection, generation, entry.digest)
        try:
            return self._cached(name, entry.digest)
        except ValueError as error:  # of msgspec too
            logger.error("ALARM: the row page %s is damaged: %s", name, error)  # noqa: TRY400
            raise Refusal(
                Code.DAMAGED,
                SAY("older-damaged"),
            ) from error
        except ObjectNotFoundError as error:
            # rather a disk that is not mounted than a page that was deleted
            self._refuse(error)
        except ObjectStoreError as error:
            self._refuse(error)

    def _read(self, name: str, digest: bytes) -> tuple[ListedRow, ...]:
        data = self._open().get(name)
        try:
            return read_page(data, PageEntry(digest, (0, b""), (0, b"")))
        except zlib.error as error:
            raise ValueError(str(error)) from error

    @staticmethod
    def _refuse(error: ObjectStoreError) -> NoReturn:
        logger.warning("a list of finished matches can't be read now: %s", error)
        raise Refusal(
            Code.UNAVAILABLE,
            SAY("older-away"),
        ) from error


def _no_store() -> Any:
    raise ObjectStoreError("no object store is set up")


NO_PAGES: Final = RowPages(_no_store)
"""For readers without an object store: they read lists that have no pages."""
