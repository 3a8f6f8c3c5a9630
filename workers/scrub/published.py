"""The check of the published logs: against their own tiles, against the data, and against the matches."""

from collections.abc import Sequence
from typing import Any, Final

from redis.exceptions import ResponseError

from infra.archive.archive import ArchiveError
from infra.archive.directory_pages import page_number
from infra.audit.leaf_order import LeafFacts
from infra.audit.log import audit_page, counter_faults
from infra.log.key_files import LogKeyError
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.signed_note import NoteError
from infra.log.tiles import WIDTH
from infra.objects.port import ObjectNotFoundError
from infra.redis import keys
from infra.store import locators
from infra.store.closed_shards import ClosedShards
from infra.store.watermarks import PublishedSizes
from workers.scrub.scrubber import ScrubFault, ScrubParts, Step

ENTRIES_EACH: Final = 16
"""Of so many bundles one is compared with the directory pages too, another one in each round."""

_FEW_BUNDLES: Final = 64
"""Of a log with fewer, all are."""

_DAMAGED: Final = (LogDamagedError, NoteError, LogKeyError, ObjectNotFoundError, ArchiveError)


class PublishedLeavesCheck:
    """All leaves of all logs: a bundle of the published log in each step, then those that are in Redis only."""

    name = "log"

    def __init__(self, parts: ScrubParts) -> None:
        self._parts = parts
        # redis-py types no answer precisely
        self._client: Any = parts.data

    def step(self, cursor: str) -> Step:
        """Check the next bundle."""
        shard, start = map(int, cursor.split(":")) if cursor else (0, 0)
        try:
            end, faults = self._bundle(shard, start)
        except ResponseError as error:
            if "WRONGTYPE" not in str(error):
                raise
            about = f"log of shard {shard} in the data"
            end, faults = start, [ScrubFault(about, f"a key of it is of another type ({error})")]
        if end > start:
            return Step(f"{shard}:{end}", faults)
        return Step(None if shard + 1 == self._parts.shards else f"{shard + 1}:0", faults)

    def _bundle(self, shard: int, start: int) -> tuple[int, list[ScrubFault]]:
        """Check leaves from `start` on; return where they end."""
        about = f"log of shard {shard}"
        if self._closed(shard):
            return start, []
        try:
            log = self._parts.log_of(shard)
            log.refresh()
        except LogKeyError as error:
            # where nothing was ever published there need not be a key
            log, fault = None, [ScrubFault(about, str(error))] if self._recorded(shard) else []
        except NoteError as error:
            log, fault = None, [ScrubFault(about, f"its checkpoint can't be used: {error}")]
        else:
            fault = self._sizes(log) if log and not start else []
        size = log.size if log else 0
        if log is None or start >= size:
            end, leaves = self._unpublished(shard, start, size)
            return end, [*fault, *self._owners(shard, start, leaves)]
        end = min(size, (start // WIDTH + 1) * WIDTH)
        try:
            leaves = log.verify_bundle(start // WIDTH)[start % WIDTH :]
        except _DAMAGED as error:
            return end, [*fault, ScrubFault(f"{about} at leaf {start}", str(error))]
        if self._closed(shard):  # meanwhile
            return end, []
        compared = self._compared(log, start, leaves)
        return end, [*fault, *compared, *self._owners(shard, start, leaves)]

    def _recorded(self, shard: int) -> int:
        data, queue = PublishedSizes(self._parts.data, self._parts.queue).recorded([shard])[shard]
        return max(data.size, queue.size)

    def _closed(self, shard: int) -> bool:
        """Return whether the shard is closed, which the doctor reports, and its leaves are restored."""
        return bool(ClosedShards(self._parts.data).read([shard]))

    def _sizes(self, log: PublishedLog) -> list[ScrubFault]:
        """Compare the checkpoint with its records beside the data and on the queue's server."""
        shard, about = log.shard, f"published size of shard {log.shard}"
        data, queue = PublishedSizes(self._parts.data, self._parts.queue).recorded([shard])[shard]
        most = max(data.size, queue.size)
        if most > log.size:
            return [
                ScrubFault(
                    about,
                    f"{most} leaves are recorded as published, and the object store has a checkpoint of "
                    f"{log.size}",
                )
            ]
        if data.size < queue.size:  # beside the data it is written first
            return [
                ScrubFault(
                    about,
                    f"{data.size} leaves are recorded as published beside the data, and {queue.size} on the "
                    "server of the queue",
                )
            ]
        root = log.checkpoint.root if log.checkpoint else b""
        if log.size and data.size == log.size and data.root != root:
            return [ScrubFault(about, "the recorded root is not that of the checkpoint")]
        return []

    def _compared(self, log: PublishedLog, start: int, leaves: Sequence[bytes]) -> list[ScrubFault]:
        """Compare published leaves with those in the data, which may be trimmed at their beginning."""
        shard, about = log.shard, f"log of shard {log.shard}"
        first = self._client.xrange(keys.log(shard), count=1)
        kept = int(first[0][0].split(b"-")[0]) if first else log.size
        least = max(0, log.size // WIDTH * WIDTH - WIDTH)
        if kept > least:
            sentence = f"leaf {least} is missing in the data, and it is not trimmed yet"
            return [ScrubFault(about, sentence)]
        published = dict(enumerate(leaves, start))
        page = range(start, start + len(leaves))
        found = audit_page(self._parts.data, shard, page, published, log.size)
        return [ScrubFault(about, fault) for fault in found.faults[:1]]

    def _unpublished(self, shard: int, start: int, size: int) -> tuple[int, list[bytes]]:
        """Return leaves of the data from `start` on, and where they end."""
        page = range(start, start + WIDTH)
        found = audit_page(self._parts.data, shard, page, {}, size).leaves
        # where one is missing the publisher stops, and the doctor reports it
        end = next((index for index in page if index not in found), page.stop)
        return end, [found[index] for index in range(start, end)]

    def _owners(self, shard: int, start: int, leaves: Sequence[bytes]) -> list[ScrubFault]:
        """Check that each leaf is one of its match, and that the counters know of it."""
        facts = LeafFacts(shard, self._parts.shards)
        by_board: dict[int, list[int]] = {}
        for index, data in enumerate(leaves, start):
            place = facts.add(index, data)
            if place is not None:
                by_board.setdefault(place * self._parts.shards + shard, []).append(index)
        faults = [
            ScrubFault(f"leaf {index} of shard {shard}", f"it {fault}")
            for index, fault in facts.faults
        ]
        counters = counter_faults(self._parts.data, self._parts.store, facts)
        faults += [ScrubFault(about, sentence) for about, sentence in counters]
        with self._client.pipeline(transaction=False) as pipe:
            for board in by_board:
                pipe.get(keys.locator(shard, board))
                pipe.getbit(*keys.archive_mark(board, self._parts.shards))
            found = pipe.execute(raise_on_error=False)
        for number, (board, indexes) in enumerate(by_board.items()):
            places, archived = found[2 * number : 2 * number + 2]
            faults += self._owner(shard, board, indexes, places, archived)
        return faults

    def _owner(
        self, shard: int, board: int, indexes: Sequence[int], places: Any, archived: Any
    ) -> list[ScrubFault]:
        about = f"match {board}"
        leaf = f"leaf {indexes[0]} of shard {shard}"
        if isinstance(places, Exception):
            return [ScrubFault(about, f"its locator can't be read: {places}", board)]
        if places is None and archived:
            places = self._archived_locator(board, indexes[0])
            if places is None:
                return []
        if places is None:
            return [ScrubFault(about, f"{leaf} is of it, and there is no such match", board)]
        try:
            missing = set(indexes).difference(locators.decode(places))
        except ValueError as error:
            return [ScrubFault(about, f"its locator can't be read: {error}", board)]
        if missing:
            return [
                ScrubFault(
                    about,
                    f"leaf {min(missing)} of shard {shard} is of it, and the match does not know of it: what "
                    "the leaf says was taken back",
                    board,
                )
            ]
        return []

    def _archived_locator(self, board: int, index: int) -> bytes | None:
        """Return the locator of a match in the archive; None where this round does not look."""
        shards = self._parts.shards
        shard = keys.shard_of(board, shards)
        try:
            bundles = self._parts.log_of(shard).size // WIDTH
            if bundles > _FEW_BUNDLES and (index // WIDTH) % ENTRIES_EACH:
                return None
            pages, _ = self._parts.archive()
            entry = pages.read(shards, shard, page_number(board, shards))[0].find(board)
        except (LogKeyError, ValueError):
            return None  # the check of the keys or of the pages reports it
        return entry.locator if entry else None
