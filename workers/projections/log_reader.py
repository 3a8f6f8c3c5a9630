"""Reads the logs for all projections at once: each leaf is decoded once, and becomes a fact.

Refusals and anchors are skipped. A fact has what the first event of its match says, which never changes
and is cached; the fact of an event that ends a match has the whole history. So no projection stores that
itself: it is in the event lists to which the log refers, and an archive must keep those as readable as
the log.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Self

import msgspec
from redis.exceptions import ResponseError

from domain.match.events import (
    Challenged,
    Ended,
    EventEnvelope,
    Flagged,
    MatchStarted,
    Moved,
    Resigned,
    Undone,
    decode_event,
)
from domain.ratings import ranking
from infra.projections.projection import Fact, MatchResult, MatchSetup
from infra.store.port import Store

BATCH: Final = 1_000
"""About how many leaves are read together: few enough to fold in milliseconds."""

_CASTS: Final = 50_000
"""Matches whose first event is cached."""

_FIRST_TEXT: Final = 0x80
"""MessagePack: a byte below it is a number, with which an event begins after its length."""


class LogLeaf(msgspec.Struct, frozen=True):
    """A leaf of a shard's log; `fact` is None if it is no event."""

    shard: int
    index: int
    fact: Fact | None


class UnreadableLeaf(msgspec.Struct, frozen=True):
    """A leaf that can't become a fact, and why."""

    shard: int
    index: int
    error: Exception


class LogChunk(msgspec.Struct, frozen=True):
    """Leaves that follow a checkpoint, those of each shard in order."""

    start: tuple[int, ...]
    counts: tuple[int, ...]
    """How many leaves of each shard's log are read after it."""
    leaves: tuple[LogLeaf, ...]
    unreadable: tuple[UnreadableLeaf, ...] = ()
    """The first of each shard that has one; what follows it is not read."""

    @classmethod
    def of(
        cls,
        start: tuple[int, ...],
        leaves: Sequence[LogLeaf],
        unreadable: Sequence[UnreadableLeaf] = (),
    ) -> Self:
        """Return a chunk with the counts after these leaves."""
        counts = list(start)
        for leaf in leaves:
            counts[leaf.shard] = leaf.index + 1
        return cls(start, tuple(counts), tuple(leaves), tuple(unreadable))

    @property
    def facts(self) -> list[Fact]:
        """The events among the leaves."""
        return [leaf.fact for leaf in self.leaves if leaf.fact is not None]


def is_event(leaf: bytes) -> bool:
    """Return whether a leaf is an event: others begin with text, see `domain.match.events`."""
    return leaf[1] < _FIRST_TEXT


def is_rated(started: MatchStarted) -> bool:
    """Return whether a match counts for ratings; one without a time control does."""
    return started.terms is None or started.terms.rated


class LogReader:
    """Reads leaves. Errors of the server pass through; those of a leaf are in the chunk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._casts: OrderedDict[int, MatchSetup] = OrderedDict()

    def read(
        self,
        start: tuple[int, ...],
        without: Collection[int] = (),
        until: Sequence[int] | None = None,
    ) -> LogChunk:
        """Return the leaves from these indexes on, except of the shards `without`, and before `until`."""
        new = [shard for shard in self._store.wait_for_leaves(start) if shard not in without]
        if until is not None:
            new = [shard for shard in new if start[shard] < until[shard]]
        each = max(1, BATCH // max(1, len(new)))
        leaves: list[LogLeaf] = []
        unreadable: list[UnreadableLeaf] = []
        for shard in new:
            most = each if until is None else min(each, until[shard] - start[shard])
            for leaf in self._leaves(shard, start[shard], most):
                if isinstance(leaf, UnreadableLeaf):
                    unreadable.append(leaf)
                else:
                    leaves.append(leaf)
        return LogChunk.of(start, leaves, unreadable)

    def _leaves(self, shard: int, start: int, count: int) -> Iterator[LogLeaf | UnreadableLeaf]:
        """Yield leaves up to the first that can't be read."""
        try:
            found = self._store.leaves(shard, start, count)
        except ResponseError as error:
            # a key has another type, and reading one by one tells which
            yield from self._one_by_one(shard, start, count, error)
            return
        for expected, (index, data) in enumerate(found, start):
            try:
                if index != expected:
                    raise LookupError(f"the log goes on with leaf {index}")  # noqa: TRY301
                fact = self._fact(data, shard) if is_event(data) else None
            except (LookupError, TypeError, ValueError) as error:
                # msgspec's errors are ValueErrors; an event that is gone has no bytes
                yield UnreadableLeaf(shard, expected, error)
                return
            yield LogLeaf(shard, index, fact)

    def _one_by_one(
        self, shard: int, start: int, count: int, error: Exception
    ) -> Iterator[LogLeaf | UnreadableLeaf]:
        if count == 1:
            yield UnreadableLeaf(shard, start, error)
            return
        for index in range(start, start + count):
            for leaf in self._leaves(shard, index, 1):
                yield leaf
                if isinstance(leaf, UnreadableLeaf):
                    return

    def _fact(self, data: bytes, shard: int) -> Fact:
        event = decode_event(data)
        cast = self._cast(event)
        return Fact(event, cast, self._finished(event, event.body), shard)

    def _cast(self, event: EventEnvelope) -> MatchSetup:
        board = event.match
        cast = self._casts.get(board)
        if cast is None:
            first = event if event.seq == 1 else decode_event(self._store.events(board)[0])
            cast = self._casts[board] = _cast(first)
            if len(self._casts) > _CASTS:
                self._casts.popitem(last=False)
        return cast

    def _finished(self, event: EventEnvelope, body: object) -> MatchResult | None:
        if not isinstance(body, Ended):
            return None
        # what may follow the end does not count
        history = tuple(map(decode_event, self._store.events(event.match)[: event.seq]))
        self._casts.pop(event.match, None)
        return _finished(body, history)


def _cast(first: EventEnvelope) -> MatchSetup:
    body = first.body
    if not isinstance(body, MatchStarted | Challenged):
        raise TypeError(f"match {first.match} begins with {body!r}")
    return MatchSetup(body.rules, body.rules.partition("/")[0], body.options, body.seats)


def _all_moved(history: Sequence[EventEnvelope]) -> bool:
    """Return whether every seat has moved, because otherwise the match counts nowhere."""
    moved = {event.body.seat for event in history if isinstance(event.body, Moved)}
    return len(moved) == len(_cast(history[0]).seats)


def _finished(ended: Ended, history: tuple[EventEnvelope, ...]) -> MatchResult:
    bodies = [event.body for event in history]
    started = [body for body in bodies if isinstance(body, MatchStarted)]
    left = [body.seat for body in bodies if isinstance(body, Resigned | Flagged)]
    plies = [body.ply for body in bodies if isinstance(body, Moved | Undone)]
    ranks = ranking(len(_cast(history[0]).seats), ended.winners, left)
    played = _all_moved(history)
    return MatchResult(
        winners=ended.winners,
        reason=ended.reason,
        ranks=ranks,
        plies=plies[-1] if plies else 0,
        rated=all(map(is_rated, started)) and played,
        played=played,
        history=history,
    )
