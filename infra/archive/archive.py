"""Reading matches of the archive: the directory page, then the leaves of the published log, then checks.

What is read of a match never changes, so the last used matches and entries are kept for further readers.

A match of the archive, or a tournament, which is called a match here: its entry in a directory page, and the match made again from entry and leaves.

`describe` and `restore` are inverse to each other. A match is only retired after `restore` has made again
all that is stored of it, from the leaves of the published log (`require_same`).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from domain import aggregates
from domain.aggregates import AnySnapshot
from domain.errors import Code, Refusal
from domain.match.history import (
    BrokenHistory,
    EventEnvelope,
    PackedSnapshot,
    Snapshot,
    check_chain,
    decode_event,
    decode_refusal,
    events_by_command,
    is_event,
    leaf_hash,
)
from domain.match.state import MatchState, cache_position
from domain.ratings import ranking
from domain.records import CommandId
from infra.archive.directory_pages import DirectoryEntry, DirectoryPage, MatchSummary, page_number
from infra.objects.port import ObjectStoreError
from infra.redis.keys import shard_of
from infra.sentences import SAY
from infra.store import locators
from infra.store.outcomes import encode_stored, parse, tail

if TYPE_CHECKING:
    from infra.archive.objects import PageStore


_DIGEST: Final = 8


class ArchiveError(Exception):
    """A match can't be read from the archive, or must not be retired."""


class ArchivedMatch(msgspec.Struct, frozen=True):
    """All that was stored of a match or a tournament, as the readers of a store want it."""

    snapshot: PackedSnapshot
    events: list[bytes]
    outcomes: Mapping[CommandId, bytes]
    indexes: list[int]
    """Of its leaves, in its shard's log."""


def describe(board: int, match: ArchivedMatch) -> DirectoryEntry:
    """Return the entry of a match that is over; `ArchiveError` if its outcomes do not fit its events."""
    state = aggregates.unpack(match.snapshot).state
    if not aggregates.ended_at(state):
        raise ArchiveError(f"match {board} is not over")
    commands = list(events_by_command(map(decode_event, match.events)))
    missing = [group for group in commands if group[0].command not in match.outcomes]
    if missing:
        raise ArchiveError(f"event {missing[0][0].seq} of match {board} has no outcome")
    accepted = {group[0].command: None for group in commands}
    refused = [(id_, stored) for id_, stored in match.outcomes.items() if id_ not in accepted]
    return DirectoryEntry(
        board=board,
        head=match.snapshot.state[:32],
        seq=state.seq,
        first_at=decode_event(match.events[0]).at,
        last_at=state.at,
        locator=locators.encode(match.indexes),
        summary=_summary(state) if isinstance(state, MatchState) else None,
        digests=b"".join(match.outcomes[id_][:_DIGEST] for id_ in accepted),
        refusals=tuple(sorted(refused, key=lambda pair: parse(pair[1]).index)),
    )


def restore(
    entry: DirectoryEntry, leaves: Sequence[bytes], *, with_position: bool = True
) -> ArchivedMatch:
    """Return the match of an entry; `ArchiveError` unless its leaves are the match's, whole and in order.

    `with_position` says whether its snapshot has the position, which readers want and moves give again.
    """
    board = entry.board
    indexes = locators.decode(entry.locator)
    if len(leaves) != len(indexes):
        raise ArchiveError(f"match {board} has {len(indexes)} leaves, and {len(leaves)} were read")
    pairs = list(zip(indexes, leaves, strict=True))
    try:
        places = [index for index, leaf in pairs if is_event(leaf)]
        events = [leaf for leaf in leaves if is_event(leaf)]
        envelopes = check_chain(board, events)
        refused = [(index, decode_refusal(leaf)) for index, leaf in pairs if not is_event(leaf)]
        outcomes = [(id_, parse(stored)) for id_, stored in entry.refusals]
    except (BrokenHistory, ValueError) as error:
        raise ArchiveError(f"match {board} does not hold in the archive: {error}") from error
    if [(board, id_, one.index, one.code) for id_, one in outcomes] != [
        (leaf.match, leaf.command, index, leaf.code) for index, leaf in refused
    ]:
        raise ArchiveError(
            f"the archive's entry of match {board} has other refusals than its leaves"
        )
    head = leaf_hash(events[-1]) if events else b""
    if (head, len(events)) != (entry.head, entry.seq):
        raise ArchiveError(f"the archive's history of match {board} ends with another event")
    state = aggregates.fold(envelopes)
    if with_position and isinstance(state, MatchState):
        with suppress(Refusal):  # the game is not installed here
            state = cache_position(state)
    return ArchivedMatch(
        snapshot=aggregates.pack(aggregates.snapshot_of(head, state)),
        events=events,
        outcomes=_outcomes(entry, envelopes, places),
        indexes=indexes,
    )


def require_same(board: int, stored: ArchivedMatch, restored: ArchivedMatch) -> None:
    """Raise `ArchiveError` unless a match that was made again is the stored one in all its parts."""
    parts = {
        "snapshot": (_without_position(stored.snapshot), _without_position(restored.snapshot)),
        "events": (stored.events, restored.events),
        "outcomes": (dict(stored.outcomes), dict(restored.outcomes)),
        "locator": (stored.indexes, restored.indexes),
    }
    for name, (one, other) in parts.items():
        if one != other:
            raise ArchiveError(f"the {name} of match {board} can't be made again from its leaves")


def _without_position(packed: PackedSnapshot) -> AnySnapshot:
    snapshot = aggregates.unpack(packed)
    if not isinstance(snapshot, Snapshot):
        return snapshot
    return replace(snapshot, state=replace(snapshot.state, position=None))


def _outcomes(
    entry: DirectoryEntry, envelopes: Sequence[EventEnvelope], places: Sequence[int]
) -> dict[CommandId, bytes]:
    """Return all outcomes: those of accepted commands follow from the events and the digests."""
    commands = list(events_by_command(envelopes))
    if len(entry.digests) != _DIGEST * len(commands):
        raise ArchiveError(f"match {entry.board} has other commands than digests in the archive")
    found = {
        group[0].command: encode_stored(
            entry.digests[_DIGEST * number : _DIGEST * (number + 1)],
            places[group[0].seq - 1],
            tail("", group[0].seq),
        )
        for number, group in enumerate(commands)
    }
    return {**found, **dict(entry.refusals)}


def _summary(state: MatchState) -> MatchSummary:
    assert state.result is not None
    seats, winners = len(state.seats), state.result.winners
    return MatchSummary(
        rules=state.rules,
        options=state.options,
        seats=state.seats,
        winners=winners,
        reason=state.result.reason,
        ranks=ranking(seats, winners, [seat for seat, _ in state.out]),
        plies=state.ply,
        rated=state.rated,
        played=state.played,
        tournament=state.pairing[0] if state.pairing else 0,
    )


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
