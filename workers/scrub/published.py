"""The check of the published logs: against their own tiles, against the data, and against the matches."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from redis.exceptions import ResponseError

from domain.match.events import (
    AnchorLeaf,
    EventEnvelope,
    MatchStarted,
    RefusedLeaf,
    decode_leaf,
)
from infra.archive.archived_match import ArchiveError
from infra.archive.directory_pages import page_number
from infra.log.key_files import LogKeyError
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.signed_note import NoteError
from infra.log.tiles import WIDTH
from infra.objects.port import ObjectNotFoundError
from infra.redis import keys
from infra.store import locators
from infra.store.board_numbers import BoardNumbers
from infra.store.closed_shards import ClosedShards
from infra.store.published_sizes import PublishedSizes
from workers.scrub.section import ScrubFault, ScrubParts, Step

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
            end, leaves = self._unpublished(shard, start)
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
        data, queue = PublishedSizes(self._parts.data, self._parts.queue).recorded(shard)
        return max(data.size, queue.size)

    def _closed(self, shard: int) -> bool:
        """Return whether the shard is closed, which the doctor reports, and its leaves are restored."""
        return bool(ClosedShards(self._parts.data).read([shard]))

    def _sizes(self, log: PublishedLog) -> list[ScrubFault]:
        """Compare the checkpoint with its records beside the data and on the queue's server."""
        shard, about = log.shard, f"published size of shard {log.shard}"
        data, queue = PublishedSizes(self._parts.data, self._parts.queue).recorded(shard)
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

    def _rows(self, shard: int, start: int, end: int) -> list[tuple[str, dict[bytes, bytes]]]:
        found = self._client.xrange(keys.log(shard), f"{start}-0", f"({end}-0", count=4 * WIDTH)
        return [(id_.decode(), fields) for id_, fields in found]

    def _compared(self, log: PublishedLog, start: int, leaves: Sequence[bytes]) -> list[ScrubFault]:
        """Compare published leaves with those in the data, which may be trimmed at their beginning."""
        shard = log.shard
        about = f"log of shard {shard} in the data"
        first = self._client.xrange(keys.log(shard), count=1)
        kept = int(first[0][0].split(b"-")[0]) if first else log.size
        least = log.size // WIDTH * WIDTH - WIDTH
        if kept > max(0, least):
            return [
                ScrubFault(
                    about, f"leaf {max(0, least)} is missing there, and it is not trimmed yet"
                )
            ]
        rows = dict(self._rows(shard, start, start + len(leaves)))
        for index, leaf in enumerate(leaves, start):
            found = rows.pop(f"{index}-1", None)
            if found is None and index >= kept:
                return [ScrubFault(about, f"leaf {index} is missing there, and it is published")]
            if found is not None and found != {b"l": leaf}:
                return [ScrubFault(about, f"leaf {index} is not the one that is published")]
        return [
            ScrubFault(about, f"it has an entry {id_}, which is no leaf") for id_ in sorted(rows)
        ]

    def _unpublished(self, shard: int, start: int) -> tuple[int, list[bytes]]:
        """Return leaves of the data from `start` on, and where they end."""
        leaves: list[bytes] = []
        for id_, fields in self._rows(shard, start, start + WIDTH):
            if id_ != f"{start + len(leaves)}-1" or list(fields) != [b"l"]:
                break  # the publisher stops there, and the doctor reports it
            leaves.append(fields[b"l"])
        return start + len(leaves), leaves

    def _owners(self, shard: int, start: int, leaves: Sequence[bytes]) -> list[ScrubFault]:
        """Check that each leaf is one of its match, and that the counters know of it."""
        faults = []
        by_board: dict[int, list[int]] = {}
        for index, data in enumerate(leaves, start):
            about = f"leaf {index} of shard {shard}"
            try:
                leaf = decode_leaf(data)
            except (msgspec.MsgspecError, ValueError) as error:
                faults.append(ScrubFault(about, f"it can't be read: {error}"))
                continue
            if isinstance(leaf, AnchorLeaf):
                faults += self._anchor(about, index, leaf)
                continue
            by_board.setdefault(leaf.match, []).append(index)
            faults += self._drawn(about, shard, leaf)
        with self._client.pipeline(transaction=False) as pipe:
            for board in by_board:
                pipe.get(keys.locator(shard, board))
                pipe.getbit(*keys.archive_mark(board, self._parts.shards))
            found = pipe.execute(raise_on_error=False)
        highest = (
            BoardNumbers(self._parts.data, self._parts.store.layout()).highest() if by_board else 0
        )
        for number, (board, indexes) in enumerate(by_board.items()):
            places, archived = found[2 * number : 2 * number + 2]
            faults += self._owner(shard, board, indexes, places, archived)
            if board > highest:
                faults.append(
                    ScrubFault(
                        f"board {board}",
                        f"leaf {indexes[0]} of shard {shard} is of it, and the counter of boards is at "
                        f"{highest}: it was set back, and numbers would be given out twice",
                    )
                )
        return faults

    def _owner(  # noqa: PLR0911 - one for each fault
        self, shard: int, board: int, indexes: Sequence[int], places: Any, archived: Any
    ) -> list[ScrubFault]:
        about = f"match {board}"
        leaf = f"leaf {indexes[0]} of shard {shard}"
        if keys.shard_of(board, self._parts.shards) != shard:
            return [ScrubFault(about, f"{leaf} is of it, and its shard is another one")]
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

    def _anchor(self, about: str, index: int, leaf: AnchorLeaf) -> list[ScrubFault]:
        """Compare an anchor with the shard's counters of seeds."""
        shard = leaf.shard
        names = ["chain", "anchor", f"index:{leaf.chain}"]
        chain, anchor, known = self._client.hmget(keys.seed_chain(shard), names)
        if known != str(index).encode():
            return [
                ScrubFault(
                    about, f"it anchors chain {leaf.chain} of seeds, which the shard does not know"
                )
            ]
        if int(chain or 0) < leaf.chain:
            return [
                ScrubFault(
                    f"seeds of shard {shard}",
                    f"chain {leaf.chain} is anchored, and chain {int(chain or 0)} "
                    "is in use: it was set back, and seeds that were shown would be drawn again",
                )
            ]
        if int(chain) == leaf.chain and anchor != leaf.anchor.hex().encode():
            return [
                ScrubFault(
                    f"seeds of shard {shard}",
                    f"the anchor of chain {leaf.chain} is another than in {about}",
                )
            ]
        return []

    def _drawn(self, about: str, shard: int, leaf: EventEnvelope | RefusedLeaf) -> list[ScrubFault]:
        """Compare the seed of a draw with the shard's counter of used seeds."""
        body = leaf.body if isinstance(leaf, EventEnvelope) else None
        if not isinstance(body, MatchStarted) or body.draw is None:
            return []
        chain, used = self._client.hmget(keys.seed_chain(shard), "chain", "k")
        if (body.draw.chain, body.draw.k) <= (int(chain or 0), int(used or 0)):
            return []
        return [
            ScrubFault(
                f"seeds of shard {shard}",
                f"{about} shows seed {body.draw.k} of chain {body.draw.chain}, and the counter is at seed "
                f"{int(used or 0)} of chain {int(chain or 0)}: it was set back, and seeds that were shown "
                "would be drawn again",
            )
        ]
