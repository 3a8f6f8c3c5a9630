"""The log of a match's shard, as an audit reads it."""

from collections.abc import Iterable
from typing import Final, Protocol

from redis.exceptions import ResponseError

from domain.match.history import BrokenHistory
from infra.audit.draws import KnownSeeds
from infra.redis.keys import shard_of
from infra.store.port import Store

_CHUNK: Final = 500
"""Leaves that are read in one round trip."""


class AuditedLog(Protocol):
    """The log of a match's shard."""

    board: int
    shard: int
    seeds: KnownSeeds | None

    def read(self, indexes: Iterable[tuple[int, bool]]) -> None:
        """Announce the leaves that will be asked for, each with whether it is a refusal's."""
        ...

    def has(self, index: int, event: bytes, seq: int) -> bool:
        """Return whether the leaf at an index is this event, whose number is `seq`."""
        ...

    def leaf(self, index: int, seq: int) -> bytes:
        """Return a leaf; raise `BrokenHistory` at event `seq` if it is missing or can't be read."""
        ...

    def anchor(self, chain: int, seq: int) -> tuple[int, bytes]:
        """Return the leaf that anchored a seed chain, and its index; raise `BrokenHistory` at event `seq`."""
        ...

    def name(self, index: int) -> str:
        """Return a leaf's name for a sentence."""
        ...


class ShardLog:
    """The log of a match's shard in a store; see `AuditedLog`."""

    def __init__(self, store: Store, board: int) -> None:
        self.board = board
        self._store = store
        self.shard = shard_of(board, store.layout().shards)
        self.seeds: KnownSeeds | None = None
        self._read: dict[int, bytes] = {}

    def read(self, indexes: Iterable[tuple[int, bool]]) -> None:
        """Read the leaves, many in one round trip."""
        wanted = sorted({index for index, _ in indexes})
        for start in range(0, len(wanted), _CHUNK):
            some = wanted[start : start + _CHUNK]
            try:
                found = self._store.leaves_at(self.shard, some)
            except (LookupError, ValueError, TypeError, ResponseError):
                continue  # `leaf` reads them one by one, and finds which of them is damaged
            self._read |= {at: data for at, data in zip(some, found, strict=True) if data}

    def has(self, index: int, event: bytes, seq: int) -> bool:
        """Return whether the leaf is this event; raise `BrokenHistory` if it is missing."""
        return self.leaf(index, seq) == event

    def leaf(self, index: int, seq: int) -> bytes:
        """Return a leaf."""
        if (known := self._read.get(index)) is not None:
            return known
        try:
            ((at, data),) = self._store.leaves(self.shard, index, 1)
        except (LookupError, ValueError, TypeError, ResponseError) as error:
            raise BrokenHistory(seq, f"{self.name(index)} is missing") from error
        if at != index or data is None:
            raise BrokenHistory(seq, f"{self.name(index)} is missing")
        return data

    def anchor(self, chain: int, seq: int) -> tuple[int, bytes]:
        """Return the leaf of an anchor."""
        index = self._store.anchor_index(self.shard, chain)
        if index is None:
            raise BrokenHistory(
                seq, f"chain {chain} of seeds, from which it draws, was never anchored"
            )
        return index, self.leaf(index, seq)

    def name(self, index: int) -> str:
        """Return a leaf's name."""
        return f"leaf {index} of shard {self.shard}'s log"
