"""Feeds projections from the logs: one read serves all that have the same position.

A round reads a chunk, folds it, and writes the data of each projection together with its new checkpoint.
A kill between any two steps leaves both written or neither, and the next round goes on from the
checkpoint. A writer that was overtaken finds another checkpoint than it read, and writes nothing. So no
lease is needed.

A failure is narrowed down: each projection is fed alone, and then leaf by leaf. The leaf that fails stops
that one projection, in that one shard, and is tried again later.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import redis
from redis.exceptions import ConnectionError as LostConnectionError
from redis.exceptions import TimeoutError as NoAnswerError

from infra.projections.generations import (
    FAILURES,
    Checkpoint,
    Generation,
    Generations,
    ProjectionFailure,
    RedisWrite,
)
from infra.projections.projection import Projection
from infra.projections.reorder import BUFFER, BufferedEvent, OrderedProjection, buffer_of
from infra.redis import scripts
from infra.redis.keys import shard_of
from infra.store.port import Store, Watermark
from workers.projections.log_reader import LogChunk, LogReader, UnreadableLeaf

logger = logging.getLogger(__name__)

RETRY_SECONDS: Final = 10.0
"""Until a leaf that failed is tried again."""

FROZEN_SECONDS: Final = 0.2
"""Until a generation that is frozen by a verification is tried again."""

DUE_BATCH: Final = 500
"""How many events are folded in their order together."""

_SERVER_ERRORS: Final = (LostConnectionError, NoAnswerError)
"""Failures of the server, not of a projection."""

_IN_ORDER: Final = "order"

_NO_LEAF: Final = 1 << 53
"""An index that no log reaches."""


class Track:
    """A generation of a projection, and its position in the logs."""

    def __init__(
        self,
        projection: Projection,
        generations: Generations,
        generation: Generation,
        checkpoint: Checkpoint,
    ) -> None:
        self.projection = projection
        self.generations = generations
        self.generation = generation
        self.checkpoint = checkpoint
        self.gone = False
        """Whether the generation has been replaced or deleted."""
        self.blocked: dict[int, float] = {}
        """Shards in which a leaf failed, each with the time of the next attempt."""
        self.stuck_places = set(generations.failures(generation))
        """The places that are noted as stuck."""
        self.paused_until = 0.0
        self.waiting = isinstance(projection, OrderedProjection)
        """Whether events may wait for their turn."""
        self.watermark: Watermark | None = None
        """Up to its time events can be folded in order, once its ends are read."""

    @property
    def is_paused(self) -> bool:
        """Whether it is not fed for now."""
        return self.gone or time.monotonic() < self.paused_until

    def unblock(self) -> None:
        """Free the shards that are due for another attempt."""
        now = time.monotonic()
        self.blocked = {shard: end for shard, end in self.blocked.items() if now < end}

    def reload(self) -> None:
        """Read the checkpoint of the generation again."""
        found = self.generations.checkpoint(self.generation)
        self.gone = found is None
        self.checkpoint = found or self.checkpoint

    def apply_reply(self, reply: bytes, after: Checkpoint) -> bool:
        """Take over the result of a change; return whether it was made."""
        if reply == b"done":
            self.checkpoint = after
        elif reply == b"held":
            self.paused_until = time.monotonic() + FROZEN_SECONDS
        else:
            self.reload()
        return reply == b"done"


class Feed:
    """Feeds tracks."""

    def __init__(self, store: Store, client: redis.Redis) -> None:
        self._store = store
        self._client = client
        self._reader = LogReader(store)

    def round(self, tracks: Sequence[Track], until: Checkpoint | None = None) -> int:
        """Read a chunk, and fold what is due in order; return the number of leaves and folded events.

        Nothing beyond `until` is read or folded.
        """
        awake = [track for track in tracks if not track.is_paused]
        for track in awake:
            track.unblock()
            # before the read, because otherwise it is never reached while people play
            if track.waiting and track.watermark is None:
                track.watermark = self._store.watermark()
        done = sum(self._read(group, until) for group in _by_position(awake))
        return done + sum(self._fold_due(track, until) for track in awake if track.waiting)

    def wait(self, tracks: Iterable[Track], block_ms: int) -> None:
        """Wait until there may be leaves to read, or so many ms."""
        # a blocked shard must not end the wait
        ends = [_NO_LEAF] * self._store.layout().shards
        for track in tracks:
            if not track.is_paused:
                for shard, count in enumerate(track.checkpoint.counts):
                    if shard not in track.blocked:
                        ends[shard] = count if ends[shard] == _NO_LEAF else max(count, ends[shard])
        self._store.wait_for_leaves(ends, block_ms)

    def _read(self, tracks: Sequence[Track], until: Checkpoint | None = None) -> int:
        """Read a chunk for tracks at the same position; return the number of leaves."""
        first = tracks[0]
        limit = until.counts if until else None
        chunk = self._reader.read(first.checkpoint.counts, first.blocked, limit)
        for leaf in chunk.unreadable:
            # a track is blocked only once it has folded all leaves before this one
            if chunk.counts[leaf.shard] == first.checkpoint.counts[leaf.shard]:
                self._block(tracks, leaf)
        if chunk.leaves:
            self._fold(tracks, chunk)
        return len(chunk.leaves)

    def _fold(self, tracks: Sequence[Track], chunk: LogChunk) -> None:
        try:
            self._write_chunk(tracks, chunk)
        except _SERVER_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - narrowed down to the leaf, and noted there
            if len(tracks) == len(chunk.leaves) == 1:
                leaf = chunk.leaves[0]
                self._block(tracks, UnreadableLeaf(leaf.shard, leaf.index, error))
                return
            self._one_by_one(tracks, chunk)

    def _one_by_one(self, tracks: Sequence[Track], chunk: LogChunk) -> None:
        """Feed each track alone; a single track leaf by leaf."""
        for track in tracks:
            track.reload()
        if len(tracks) > 1:
            for track in tracks:
                if track.checkpoint.counts == chunk.start and not track.gone:
                    self._fold([track], chunk)
            return
        track = tracks[0]
        for leaf in chunk.leaves:
            start = track.checkpoint.counts
            # a leaf before was stuck, or another worker was faster
            if track.gone or leaf.shard in track.blocked or leaf.index != start[leaf.shard]:
                continue
            self._fold(tracks, LogChunk.of(start, (leaf,)))

    def _write_chunk(self, tracks: Sequence[Track], chunk: LogChunk) -> None:
        """Fold a chunk for each track, and write the results."""
        facts = chunk.facts
        needs = [track.projection.needs(facts) for track in tracks]
        with self._client.pipeline(transaction=False) as pipe:
            for track, reads in zip(tracks, needs, strict=True):
                track.generation.add_reads(pipe, reads)
            found = iter(pipe.execute())
        calls, afters = [], []
        for track, reads in zip(tracks, needs, strict=True):
            before = track.checkpoint
            writes = track.projection.fold(facts, [next(found) for _ in reads])
            after = track.projection.after(before, facts)
            after = msgspec.structs.replace(after, counts=chunk.counts)
            calls.append(
                track.generation.change_call(before, after, [*writes, *_clear_stuck(track, chunk)])
            )
            afters.append(after)
        replies = scripts.call_all(self._client, calls)
        for track, after, reply in zip(tracks, afters, replies, strict=True):
            if track.apply_reply(reply, after):
                track.stuck_places -= _unstuck_shards(track, chunk)
                track.waiting = track.waiting or track.projection.defers(facts)

    def _fold_due(self, track: Track, until: Checkpoint | None) -> int:
        """Fold in order what is older than the track's watermark, if it has read that far."""
        assert isinstance(track.projection, OrderedProjection)
        if track.is_paused or not _has_read_all(track, until):
            return 0
        due = self._next_due(track, until)
        try:
            return self._write_due(track, track.projection, due) if due else 0
        except _SERVER_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - it is noted, and the projection stops
            self._stop(track, due, error)
            return 0

    def _next_due(self, track: Track, until: Checkpoint | None) -> list[BufferedEvent]:
        """Return the next events whose turn has come, and note whether others wait."""
        key = track.generation.key(BUFFER)
        # only what is older than the watermark, because at its very time more may come
        end = str(until.last[0]) if until else f"({track.watermark.at if track.watermark else 0}"
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zrangebyscore(key, "-inf", end, start=0, num=DUE_BATCH, withscores=True)
            pipe.zcard(key)
            found, waiting = pipe.execute()
        due = [BufferedEvent.read(member, score) for member, score in found]
        if until is not None:
            due = [turn for turn in due if turn.place <= until.last]
        if len(due) < DUE_BATCH:
            track.watermark = None
            track.waiting = waiting > len(due)
        return due

    def _write_due(
        self, track: Track, projection: OrderedProjection, due: Sequence[BufferedEvent]
    ) -> int:
        reads = projection.ordered_needs(due)
        with self._client.pipeline(transaction=False) as pipe:
            track.generation.add_reads(pipe, reads)
            found = pipe.execute()
        writes: list[RedisWrite] = list(projection.ordered_fold(due, found))
        writes += _remove_pending(due, len(track.checkpoint.counts))
        if _IN_ORDER in track.stuck_places:
            writes.append(("HDEL", FAILURES, _IN_ORDER))
        before = track.checkpoint
        after = msgspec.structs.replace(before, last=due[-1].place)
        call = track.generation.change_call(before, after, writes)
        (reply,) = scripts.call_all(self._client, [call])
        if not track.apply_reply(reply, after):
            track.waiting = True
            return 0
        track.stuck_places.discard(_IN_ORDER)
        return len(due)

    def _block(self, tracks: Iterable[Track], leaf: UnreadableLeaf) -> None:
        what = f"leaf {leaf.index} of shard {leaf.shard}"
        for track in tracks:
            track.blocked[leaf.shard] = time.monotonic() + RETRY_SECONDS
            self._note_stuck(track, str(leaf.shard), what, leaf.error)

    def _stop(self, track: Track, due: Sequence[BufferedEvent], error: Exception) -> None:
        track.waiting = True
        track.paused_until = time.monotonic() + RETRY_SECONDS
        _, board, seq = due[0].place
        self._note_stuck(
            track, _IN_ORDER, f"event {seq} of match {board} or one soon after it", error
        )

    def _note_stuck(self, track: Track, where: str, what: str, error: Exception) -> None:
        """Note, and log once for each place, that a projection has stopped there."""
        said = f"{type(error).__name__}: {error}"
        stuck = ProjectionFailure(what, time.time_ns() // 1_000_000, said)
        known = track.generations.failures(track.generation).get(where)
        if known is None or known.what != what:
            logger.error(
                "ALARM: %s can't fold %s now; it is tried again every %d s, and what comes after "
                "it there waits for it. Matches and the other lists go on",
                track.projection.spec.name,
                what,
                RETRY_SECONDS,
                exc_info=error,
            )
            track.generations.note_failure(track.generation, where, stuck)
        track.stuck_places.add(where)


def _by_position(tracks: Iterable[Track]) -> list[list[Track]]:
    """Return groups of tracks that can be fed from one read."""
    groups: dict[tuple[object, ...], list[Track]] = {}
    for track in tracks:
        place = (track.checkpoint.counts, tuple(sorted(track.blocked)))
        groups.setdefault(place, []).append(track)
    return list(groups.values())


def _has_read_all(track: Track, until: Checkpoint | None) -> bool:
    """Return whether all events to fold in order are read."""
    counts = track.checkpoint.counts
    if until is not None:
        return counts == until.counts
    return track.watermark is not None and all(
        count >= end for count, end in zip(counts, track.watermark.ends, strict=True)
    )


def _remove_pending(due: Sequence[BufferedEvent], shards: int) -> list[RedisWrite]:
    """Return the writes that remove events from the buffer."""
    rows: dict[str, list[str]] = {BUFFER: [turn.member for turn in due]}
    for turn in due:
        rows.setdefault(buffer_of(shard_of(turn.place[1], shards)), []).append(turn.member)
    return [("ZREM", key, *members) for key, members in rows.items()]


def _unstuck_shards(track: Track, chunk: LogChunk) -> set[str]:
    """Return the shards that were stuck before this chunk."""
    if not track.stuck_places:
        return set()
    return {str(leaf.shard) for leaf in chunk.leaves} & track.stuck_places


def _clear_stuck(track: Track, chunk: LogChunk) -> list[RedisWrite]:
    """Return the writes that remove the notes about those shards."""
    return [("HDEL", FAILURES, shard) for shard in sorted(_unstuck_shards(track, chunk))]
