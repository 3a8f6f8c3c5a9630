"""The check of a match's leaves against the published log of its shard: inclusion, and what was left out.

Each leaf below the size of the signed checkpoint must be in its tree, and the published log must have no
other leaf of the match. So a history that was changed in all that Redis has is found.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from domain.match.history import BrokenHistory, EventEnvelope, RefusedLeaf, leaf_hash
from domain.records import SCHEMA
from infra.audit.match import CheckedMatch
from infra.log.key_files import LogKeyError
from infra.log.published_log import LogDamagedError, PublishedLog
from infra.log.signed_note import NoteError
from infra.log.tiles import WIDTH
from infra.objects.port import ObjectStoreError

MOST_SEARCHED: Final = 1 << 20
"""Leaves of a published log that are searched for others of one match, the newest."""


_NUMBER: Final = msgspec.msgpack.Encoder()
_EVENT: Final = bytes([0x90 | len(EventEnvelope.__struct_fields__), SCHEMA])
_REFUSAL: Final = (
    bytes([0x90 | len(RefusedLeaf.__struct_fields__) + 1, 0xA7]) + b"refused" + bytes([SCHEMA])
)

_SOON: Final = ", which takes seconds while a publisher runs"


class NotCompared(Exception):  # noqa: N818 - it says what the leaves are
    """The leaves of a match can't be compared with the published log; the message is a sentence."""


def open_published(
    log_of: Callable[[int], PublishedLog], shard: int, recorded: int = 0
) -> PublishedLog:
    """Return the published log of a shard at its checkpoint of now.

    `NotCompared` if it can't be read, or has fewer leaves than are `recorded` to be published.
    """
    try:
        log = log_of(shard)
        size = log.refresh()
    except (LogKeyError, NoteError, ObjectStoreError) as error:
        raise NotCompared(f"the published log of shard {shard} can't be read: {error}") from error
    if size < recorded:
        raise NotCompared(
            f"the published log of shard {shard} has {size} leaves, though the data say that "
            f"{recorded} were published: it is another store, or an older copy of it"
        )
    return log


class PublishedMatches:
    """Compares matches with the published log of one shard, at one checkpoint.

    The log is to be opened before a match is read, so that all that is published was stored by then.
    """

    def __init__(self, log: PublishedLog) -> None:
        self._log = log

    def compare(self, match: CheckedMatch) -> str:
        """Return a clause that says how many leaves are proven; raise `BrokenHistory` for the first other one."""
        checkpoint = self._log.checkpoint
        if checkpoint is None or not checkpoint.size:
            return f"; none of its leaves is published yet{_SOON}"
        leaves = dict(sorted(match.leaves.items()))
        proven = [index for index in leaves if index < checkpoint.size]
        try:
            self._prove(match, {index: leaves[index] for index in proven})
            searched = self._search(match.board, leaves)
        except (LogDamagedError, ObjectStoreError) as error:
            raise NotCompared(str(error)) from error
        waiting = len(leaves) - len(proven)
        number = f"{len(proven)} of its {len(leaves)}" if waiting else f"all {len(leaves)}"
        clause = (
            f"; {number} leaves are proven by the signed checkpoint of {checkpoint.origin} at "
            f"{checkpoint.size} leaves{searched}"
        )
        return f"{clause}; {_newest(waiting)} published yet{_SOON}" if waiting else clause

    def require_none(self, board: int) -> None:
        """Raise `BrokenHistory` if a match that the data do not know has published leaves."""
        try:
            self._search(board, {})
        except (LogDamagedError, ObjectStoreError) as error:
            raise NotCompared(str(error)) from error

    def _prove(self, match: CheckedMatch, leaves: Mapping[int, bytes]) -> None:
        for seq, (index, leaf) in enumerate(leaves.items(), 1):
            if self._log.proved_hashes(index // WIDTH)[index % WIDTH] != leaf_hash(leaf):
                raise BrokenHistory(
                    min(seq, match.events),
                    f"leaf {index} of the published log of shard {self._log.shard}, which is signed, is "
                    "another one than that of the match",
                )

    def _search(self, board: int, leaves: Mapping[int, bytes]) -> str:
        """Look for other leaves of a match; return a clause if not all leaves were searched."""
        size = self._log.size
        first = max(min(leaves, default=0), size - MOST_SEARCHED)
        prefixes = _prefixes(board)
        for index, leaf in enumerate(self._log.leaves(first, size), first):
            if index not in leaves and leaf.startswith(prefixes):
                raise BrokenHistory(
                    1 + sum(one < index for one in leaves),
                    f"the published log of shard {self._log.shard}, which is signed, has one more leaf of "
                    f"the match, number {index}, that the data lack",
                )
        return (
            f" (only the last {MOST_SEARCHED} were searched for others of the match)"
            if first > min(leaves, default=0)
            else ""
        )


def _prefixes(board: int) -> tuple[bytes, bytes]:
    """Return the bytes with which the events and the refusals of a match begin."""
    number = _NUMBER.encode(board)
    return _EVENT + number, _REFUSAL + number


def _newest(count: int) -> str:
    """Return the newest leaves with their verb, such as `the newest 2 are not`."""
    return "the newest is not" if count == 1 else f"the newest {count} are not"
