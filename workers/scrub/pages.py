"""The check of the archive: directory pages, the marks of archived matches, and the matches themselves."""

from functools import partial
from typing import Any, Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory
from infra.archive.archive import ArchivedMatch, ArchiveError, describe, prove, restore
from infra.archive.directory_pages import BOARDS, DirectoryPage
from infra.archive.objects import PageStore, PublishedLeaves
from infra.audit.stored_match import StoredMatch, anchors_in, audit_stored, read_leaves
from infra.log.key_files import LogKeyError
from infra.objects.port import ObjectNotFoundError
from infra.redis import keys
from infra.store import locators
from workers.scrub.scrubber import ScrubFault, ScrubParts, Step

MATCHES: Final = 4
"""Matches of a step."""


class ArchivePages:
    """All pages of all shards, with their matches."""

    name = "archive"

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts
        # redis-py types no answer precisely
        self._client: Any = parts.data

    def step(self, cursor: str) -> Step:
        """Check the next matches of a page."""
        shard, number, place = map(int, cursor.split(":")) if cursor else (0, 0, 0)
        last = self._last_page(shard)
        faults: list[ScrubFault] = []
        boards: list[int] = []
        if number <= last:
            pages, leaves = self._parts.archive()
            faults, boards = self._places(pages, leaves, shard, number, place)
            place += MATCHES if faults or boards or self._marked(shard, number, place) else BOARDS
            if place < BOARDS:
                return Step(f"{shard}:{number}:{place}", faults, boards)
            if number < last:
                return Step(f"{shard}:{number + 1}:0", faults, boards)
        if shard + 1 < self._parts.shards:
            return Step(f"{shard + 1}:0:0", faults, boards)
        return Step(None, faults, boards)

    def _last_page(self, shard: int) -> int:
        """Return the number of the last page that has a mark; -1 if none has."""
        length = self._client.strlen(keys.archived(shard))
        return (8 * length - 1) // BOARDS if length else -1

    def _marked(self, shard: int, number: int, place: int) -> bool:
        """Return whether a page has marks from a place on."""
        first = number * BOARDS + place
        data: bytes = self._client.getrange(
            keys.archived(shard), first // 8, ((number + 1) * BOARDS - 1) // 8
        )
        return any(data)

    def _places(
        self, pages: PageStore, leaves: PublishedLeaves, shard: int, number: int, place: int
    ) -> tuple[list[ScrubFault], list[int]]:
        """Check some places of a page; return the boards of matches that were checked."""
        shards = self._parts.shards
        places = range(place, min(place + MATCHES, BOARDS))
        boards = [(number * BOARDS + one) * shards + shard for one in places]
        with self._client.pipeline(transaction=False) as pipe:
            for board in boards:
                pipe.getbit(*keys.archive_mark(board, shards))
                pipe.exists(keys.snapshot(shard, board))
            found = pipe.execute()
        marked = [board for board, one in zip(boards, found[::2], strict=True) if one]
        there = {board for board, one in zip(boards, found[1::2], strict=True) if one}
        about = f"directory page {number} of shard {shard}"
        try:
            page, data = pages.read(shards, shard, number)
        except ValueError as error:
            return ([ScrubFault(about, str(error))] if marked or not place else []), []
        if data is None:
            return (
                [ScrubFault(about, f"it is gone, and match {marked[0]} is in it")] if marked else []
            ), []
        faults: list[ScrubFault] = []
        if not place and page.encode() != data:
            faults.append(ScrubFault(about, "its bytes are not those that this program writes"))
        for board in boards:
            faults += self._place(
                page, leaves, board, is_marked=board in marked, there=board in there
            )
        return faults, marked

    def _place(  # noqa: PLR0911 - one for each fault
        self,
        page: DirectoryPage,
        leaves: PublishedLeaves,
        board: int,
        *,
        is_marked: bool,
        there: bool,
    ) -> list[ScrubFault]:
        about = f"match {board}"
        try:
            entry = page.find(board)
            if entry is None:
                return (
                    [
                        ScrubFault(
                            about,
                            "it is marked as in the archive, and its page has no entry of it",
                            board,
                        )
                    ]
                    if is_marked
                    else []
                )
            if there:
                return []  # it is about to be retired, and what Redis has counts
            if not is_marked:
                return [
                    ScrubFault(
                        about,
                        "its directory page has it, and it is not marked as in the archive",
                        board,
                    )
                ]
            indexes = locators.decode(entry.locator)
            found = leaves.leaves_at(page.shard, indexes)
            match = restore(entry, found)
            if describe(board, match) != entry:
                return [
                    ScrubFault(
                        about, "its entry in the directory page does not fit its leaves", board
                    )
                ]
            prove(leaves, page.shard, match, found)
            self._audit(page.shard, board, match)
        except Refusal as refusal:
            if refusal.code is Code.UNAVAILABLE:
                raise
            return [ScrubFault(about, str(refusal), board)]
        except (
            ArchiveError, BrokenHistory, LogKeyError, ObjectNotFoundError, msgspec.MsgspecError,
            LookupError, TypeError, ValueError,
        ) as error:  # fmt: skip
            return [ScrubFault(about, str(error), board)]
        return []

    def _audit(self, shard: int, board: int, match: ArchivedMatch) -> None:
        """Audit a match that was made again, with the leaves that the data have; raises `BrokenHistory`."""
        store = self._parts.store
        audit_stored(
            StoredMatch(board, shard, match.snapshot, match.events, match.outcomes, match.indexes),
            lambda wanted: read_leaves(store, shard, wanted),
            anchors_in(store, shard),
            partial(store.kept_commands, shard),
        )
