"""Directory pages: where the matches of the archive are in the published log, and what sums them up.

A page has 256 consecutive boards of a shard. It is the second kind of object that is written again: an
entry is added when its match is retired. An entry has nothing that its match's leaves have, but the time
and result that lists need, and of each command what its leaves do not have of its outcome.
"""

from collections.abc import Iterable
from typing import Final, Self

import msgspec

from domain.records import AccountId, CommandId, RecordDecoder
from domain.rules import Seat
from infra.log.tiles import number_path

BOARDS: Final = 256
"""Boards of a page."""

VERSION: Final = 1
"""Of the format; pages of another are refused."""

_NOTHING: Final = msgspec.Raw(b"\xc0")
"""The place of a board that is not in the archive: nil."""


class MatchSummary(msgspec.Struct, frozen=True, array_like=True):
    """The result of a match, without its history. Accounts are ids."""

    rules: str
    """With the version, such as `pow2/1`."""
    options: tuple[str, ...]
    seats: tuple[AccountId, ...]
    winners: tuple[Seat, ...]
    reason: str
    ranks: tuple[int, ...]
    """By seat, 1 for the first."""
    plies: int
    rated: bool
    """Whether it counts for ratings."""
    played: bool
    """Whether every seat has moved; otherwise it counts nowhere."""
    tournament: int = 0
    """The number of its tournament; 0 without one."""


class DirectoryEntry(msgspec.Struct, frozen=True, array_like=True):
    """A match of the archive, or a tournament."""

    board: int
    head: bytes
    """Leaf hash of its last event."""
    seq: int
    """Number of its last event."""
    first_at: int
    """Time of its first event, ms."""
    last_at: int
    """Time of its last event, ms."""
    locator: bytes
    """Where its leaves are in the shard's log: `infra.store.locators`."""
    summary: MatchSummary | None
    """None for a tournament: what its lists show is in their projection."""
    digests: bytes
    """8 bytes for each command that was accepted, in their order: the rest of its outcome is in the events."""
    refusals: tuple[tuple[CommandId, bytes], ...]
    """Refused commands with their stored outcomes, in the order of their leaves."""


class PageError(ValueError):
    """The bytes of a page are damaged, or of another page or version."""


def page_number(board: int, shards: int) -> int:
    """Return the number of the page that has a board, within its shard."""
    return board // shards // BOARDS


def page_path(number: int) -> str:
    """Return the path of a page below the prefix of its shard's log."""
    return f"boards/{number_path(number)}"


class DirectoryPage(msgspec.Struct, frozen=True, array_like=True):
    """A page; entries are decoded one at a time, because a reader of a match needs only its own."""

    version: int
    shards: int
    """Of the data, because boards are numbered across them."""
    shard: int
    number: int
    entries: tuple[msgspec.Raw, ...]
    """By place, without the empty places at the end."""

    @classmethod
    def empty(cls, shards: int, shard: int, number: int) -> Self:
        """Return a page without entries."""
        return cls(VERSION, shards, shard, number, ())

    @classmethod
    def decode(cls, data: bytes, shards: int, shard: int, number: int) -> "DirectoryPage":
        """Read a page; `PageError` unless it is this page."""
        try:
            page = _PAGES.decode(data)
        except msgspec.MsgspecError as error:
            raise PageError(f"page {number} of shard {shard} is damaged: {error}") from error
        if page.version != VERSION:
            raise PageError(
                f"page {number} of shard {shard} has version {page.version}, and this program reads "
                f"{VERSION}"
            )
        if (page.shards, page.shard, page.number) != (shards, shard, number):
            raise PageError(
                f"page {number} of shard {shard} of {shards} calls itself page {page.number} of "
                f"shard {page.shard} of {page.shards}"
            )
        return page

    def encode(self) -> bytes:
        """Return the bytes of the page."""
        return msgspec.msgpack.encode(self)

    def find(self, board: int) -> DirectoryEntry | None:
        """Return the entry of a board; None if it has none. `PageError` if it is damaged."""
        place = self._place(board)
        if place >= len(self.entries):
            return None
        try:
            entry = _ENTRIES.decode(self.entries[place])
        except msgspec.MsgspecError as error:
            raise PageError(f"the archive's entry of match {board} is damaged: {error}") from error
        if entry is not None and entry.board != board:
            raise PageError(f"the archive's entry of match {board} is of match {entry.board}")
        return entry

    def with_entries(self, new: Iterable[DirectoryEntry]) -> Self:
        """Return the page with entries added or replaced."""
        entries = list(self.entries)
        for entry in new:
            place = self._place(entry.board)
            entries += [_NOTHING] * (place + 1 - len(entries))
            entries[place] = msgspec.Raw(_encode(entry))
        return msgspec.structs.replace(self, entries=tuple(entries))

    def _place(self, board: int) -> int:
        """Return the place of a board in this page; ValueError if it has none."""
        count, shard = divmod(board, self.shards)
        number, place = divmod(count, BOARDS)
        if (shard, number) != (self.shard, self.number):
            raise ValueError(f"match {board} is not in page {self.number} of shard {self.shard}")
        return place


def _encode(entry: DirectoryEntry) -> bytes:
    """Return the bytes of an entry; of a match without a tournament they are those from before there were any."""
    fields, found = msgspec.structs.asdict(entry), entry.summary
    if found is not None and not found.tournament:
        fields["summary"] = msgspec.structs.astuple(found)[:-1]
    return msgspec.msgpack.encode([*fields.values()])


_PAGES: Final = RecordDecoder(DirectoryPage)
_ENTRIES: Final[RecordDecoder[DirectoryEntry | None]] = RecordDecoder(DirectoryEntry | None)  # type: ignore[arg-type]
