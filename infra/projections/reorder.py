"""Reorder buffer of the projections whose result depends on the order of events of different matches.

| key | what |
|---|---|
| `pending` | sorted set: `<board>:<seq>|<text>`; score: time by which the event has its place, ms |
| `pending:<shard>` | the same, of the events in one shard's log |

Each bucket buffers the events of its owners, and takes them when their turn has come. It reads the times of all
events, because those behind an event in its log change its place.

Members of one score are in text order, so the set is in the order of (time, board, seq).

The events of all shards are folded in the order of (time, board, seq). The log of a shard is not in that
order, so an event is buffered first, in the projection itself, and folded in its turn: when all shards
have been read up to where they stood at a watermark, everything older than the watermark's time is in,
and nothing older can come.

The time of an event, for this, is the least of its own and those of the events behind it in its shard's
log, because it happened before them. With a clock that runs forwards that is its own time. Where a clock
ran ahead and was put right, the events of that while get the time of the first event after it, so that
they need not wait until the clock is there again. The same logs give the same times to every reader.

An event can belong before one that is folded already only if a shard breaks the promise of a watermark, see
`infra.store.port`: a clock that steps back alone does not, as long as no shard stamps below its promise. The
projection notices that, keeps it in its checkpoint, and is rebuilt.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec

from infra.projections.buckets import (
    Bucket,
    Checkpoint,
    EventPosition,
    RedisRead,
    RedisWrite,
)
from infra.projections.generations import BUFFER, position_of_member
from infra.projections.projection import Fact, Projection


def buffer_of(shard: int) -> str:
    """Return the key of the buffered events of one shard's log."""
    return f"{BUFFER}:{shard}"


class BufferedEvent(msgspec.Struct, frozen=True):
    """A buffered event."""

    place: EventPosition
    text: str
    """The data that the projection needs of it."""

    @property
    def member(self) -> str:
        """Return its member of the sorted set."""
        _, board, seq = self.place
        return f"{board:015}:{seq:010}|{self.text}"

    @classmethod
    def read(cls, member: bytes, score: float) -> "BufferedEvent":
        """Read a member of the sorted set."""
        text = member.decode().partition("|")[2]
        return cls(position_of_member(member, score), text)


class OrderedProjection(Projection):
    """Buffers facts as they are read, and folds them in order."""

    @abstractmethod
    def buffered_text(self, fact: Fact) -> str | None:
        """Return the text to buffer for a fact that `settles`; None to ignore the fact."""

    @abstractmethod
    def ordered_needs(self, due: Sequence[BufferedEvent]) -> Sequence[RedisRead]:
        """Return the reads that the fold of these events needs."""

    @abstractmethod
    def ordered_fold(
        self, due: Sequence[BufferedEvent], found: Sequence[Any]
    ) -> Sequence[RedisWrite]:
        """Return the writes for these events, in their order."""

    def route(self, facts: Sequence[Fact], buckets: int) -> list[list[Fact]]:
        """Return all facts for each bucket, because the time of each may change the place of others."""
        return [list(facts) for _ in range(buckets)]

    def needs(self, facts: Sequence[Fact], bucket: Bucket) -> Sequence[RedisRead]:
        """Return the reads of buffered events of the same logs with later times."""
        del bucket
        return [
            ("ZRANGEBYSCORE", buffer_of(shard), f"({_least(some)}", "+inf")
            for shard, some in _by_shard(facts).items()
        ]

    def fold(self, facts: Sequence[Fact], found: Sequence[Any], bucket: Bucket) -> list[RedisWrite]:
        """Buffer the facts, and give buffered events an earlier time where these show it."""
        writes: list[RedisWrite] = []
        for (shard, some), later in zip(_by_shard(facts).items(), found, strict=True):
            places = [(_least(some), member) for member in later]
            places += [(due.place[0], due.member) for due in self._buffered(some, bucket)]
            for at, member in places:
                writes += [("ZADD", key, at, member) for key in (BUFFER, buffer_of(shard))]
        return writes

    def _buffered(self, facts: Sequence[Fact], bucket: Bucket) -> list[BufferedEvent]:
        """Return the events to buffer for facts of one log, the last first."""
        found = []
        least = _least(facts[-1:])
        for fact in reversed(facts):
            event = fact.event
            least = min(least, event.at)
            text = self._text(fact, bucket)
            if text is not None:
                found.append(BufferedEvent((least, event.match, event.seq), text))
        return found

    def _text(self, fact: Fact, bucket: Bucket) -> str | None:
        """Return the text to buffer for a fact, if it belongs to the bucket."""
        if not fact.settles:
            return None
        owned = any(bucket.owns(owner) for owner in self.owners(fact))
        return self.buffered_text(fact) if owned else None

    def after(self, checkpoint: Checkpoint, facts: Sequence[Fact], bucket: Bucket) -> Checkpoint:
        """Note an event that belongs before a folded one, or changes the time of a folded one."""
        if not facts or (least := _least(facts)) > checkpoint.last[0]:
            return checkpoint
        buffered = [
            due for some in _by_shard(facts).values() for due in self._buffered(some, bucket)
        ]
        late = least < checkpoint.last[0]
        if late or any(due.place <= checkpoint.last for due in buffered):
            return msgspec.structs.replace(checkpoint, late=True)
        return checkpoint

    def defers(self, facts: Sequence[Fact], bucket: Bucket) -> bool:
        """Return whether any fact is buffered."""
        return any(self._text(fact, bucket) is not None for fact in facts)


def _by_shard(facts: Sequence[Fact]) -> dict[int, list[Fact]]:
    """Return the facts of each shard, in the order of its log."""
    found: dict[int, list[Fact]] = {}
    for fact in facts:
        found.setdefault(fact.shard, []).append(fact)
    return found


def _least(facts: Sequence[Fact]) -> int:
    return min(fact.event.at for fact in facts)
