"""Feeds projections from the logs: reads once for all that stand at the same place.

A round reads a chunk, folds it, and writes for each projection its data together with its new
checkpoint. Killed between any two steps it has written both or neither, and the next round goes on from
the checkpoint. A writer that was overtaken finds another checkpoint than it read and writes
nothing. So nothing here needs a lease.

What fails is narrowed down: of several projections each is fed alone, and alone leaf by leaf; the
leaf that fails then stops that one projection, in that one shard, and is tried again later.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import redis
from redis.exceptions import ConnectionError as LostConnectionError
from redis.exceptions import TimeoutError as NoAnswerError

from infra import scripts
from infra.keys import shard_of
from infra.projections.pending import PENDING, Due, OrderedProjection, pending_of
from infra.projections.projection import Projection
from infra.projections.shelf import STUCK, Checkpoint, Generation, Shelf, Stuck, Write
from infra.store.port import Store, Watermark
from workers.projections.reader import Chunk, Reader, Unreadable

logger = logging.getLogger(__name__)

RETRY_SECONDS: Final = 10.0
"""How long a leaf that failed is left alone."""

HELD_SECONDS: Final = 0.2
"""How long a generation that somebody compares is left alone."""

TURNS: Final = 500
"""How many events are taken in their order together."""

_PASSING: Final = (LostConnectionError, NoAnswerError)
"""Failures of the server, not of a projection."""

_ORDER: Final = "order"

_NEVER: Final = 1 << 53
"""No log has so many leaves."""


class Track:
    """A projection's generation on its way through the logs."""

    def __init__(
        self, projection: Projection, shelf: Shelf, generation: Generation, checkpoint: Checkpoint
    ) -> None:
        self.projection = projection
        self.shelf = shelf
        self.generation = generation
        self.checkpoint = checkpoint
        self.gone = False
        """Whether the generation has been replaced or taken away."""
        self.blocked: dict[int, float] = {}
        """Shards in which a leaf failed, each with when it is tried again."""
        self.noted = set(shelf.stuck(generation))
        """What is said to be stuck."""
        self.rests_until = 0.0
        self.waiting = isinstance(projection, OrderedProjection)
        """Whether something may wait for its turn."""
        self.mark: Watermark | None = None
        """Up to when everything can be taken in order, once it has read that far."""

    @property
    def rests(self) -> bool:
        """Whether it is left alone for now."""
        return self.gone or time.monotonic() < self.rests_until

    def wake(self) -> None:
        """Try again what has waited long enough."""
        now = time.monotonic()
        self.blocked = {shard: end for shard, end in self.blocked.items() if now < end}

    def look(self) -> None:
        """Find out where the generation stands after all."""
        found = self.shelf.checkpoint(self.generation)
        self.gone = found is None
        self.checkpoint = found or self.checkpoint

    def heed(self, reply: bytes, after: Checkpoint) -> bool:
        """Go by what became of a change; tell whether it was made."""
        if reply == b"done":
            self.checkpoint = after
        elif reply == b"held":
            self.rests_until = time.monotonic() + HELD_SECONDS
        else:
            self.look()
        return reply == b"done"


class Feed:
    """Feeds tracks; `reader` remembers beginnings of matches between rounds."""

    def __init__(self, store: Store, client: redis.Redis) -> None:
        self._store = store
        self._client = client
        self._reader = Reader(store)

    def round(self, tracks: Sequence[Track], until: Checkpoint | None = None) -> int:
        """Read a chunk, and take in order what can be; gives how many leaves and turns that were.

        Nothing beyond `until` is read or taken.
        """
        awake = [track for track in tracks if not track.rests]
        for track in awake:
            track.wake()
            # before the logs are read, or they would never be read up to it while people play
            if track.waiting and track.mark is None:
                track.mark = self._store.watermark()
        done = sum(self._read(group, until) for group in _together(awake))
        return done + sum(self._turns(track, until) for track in awake if track.waiting)

    def wait(self, tracks: Iterable[Track], block_ms: int) -> None:
        """Wait until there may be something to read."""
        # of a shard in which nothing goes on no news is wanted
        ends = [_NEVER] * self._store.shape().shards
        for track in tracks:
            if not track.rests:
                for shard, count in enumerate(track.checkpoint.counts):
                    if shard not in track.blocked:
                        ends[shard] = count if ends[shard] == _NEVER else max(count, ends[shard])
        self._store.news(ends, block_ms)

    # what is read

    def _read(self, tracks: Sequence[Track], until: Checkpoint | None = None) -> int:
        """Read a chunk for tracks that stand at the same place; give how many leaves that was."""
        first = tracks[0]
        limit = until.counts if until else None
        chunk = self._reader.read(first.checkpoint.counts, first.blocked, limit)
        for leaf in chunk.unreadable:
            # what comes before it is in this chunk, and has to be taken in first
            if chunk.counts[leaf.shard] == first.checkpoint.counts[leaf.shard]:
                self._block(tracks, leaf)
        if chunk.leaves:
            self._fold(tracks, chunk)
        return len(chunk.leaves)

    def _fold(self, tracks: Sequence[Track], chunk: Chunk) -> None:
        try:
            self._change(tracks, chunk)
        except _PASSING:
            raise
        except Exception as error:  # noqa: BLE001 - narrowed down to the leaf, and told there
            if len(tracks) == len(chunk.leaves) == 1:
                leaf = chunk.leaves[0]
                self._block(tracks, Unreadable(leaf.shard, leaf.index, error))
                return
            self._one_by_one(tracks, chunk)

    def _one_by_one(self, tracks: Sequence[Track], chunk: Chunk) -> None:
        """Feed each track alone, and leaf by leaf if it is alone."""
        for track in tracks:
            track.look()
        if len(tracks) > 1:
            for track in tracks:
                if track.checkpoint.counts == chunk.start and not track.gone:
                    self._fold([track], chunk)
            return
        track = tracks[0]
        for leaf in chunk.leaves:
            start = track.checkpoint.counts
            # the leaf before was stuck, or somebody else has been here
            if track.gone or leaf.shard in track.blocked or leaf.index != start[leaf.shard]:
                continue
            self._fold(tracks, Chunk.of(start, (leaf,)))

    def _change(self, tracks: Sequence[Track], chunk: Chunk) -> None:
        """Fold a chunk into each track and write it."""
        facts = chunk.facts
        needs = [track.projection.needs(facts) for track in tracks]
        with self._client.pipeline(transaction=False) as pipe:
            for track, reads in zip(tracks, needs, strict=True):
                track.generation.reads(pipe, reads)
            found = iter(pipe.execute())
        calls, afters = [], []
        for track, reads in zip(tracks, needs, strict=True):
            before = track.checkpoint
            writes = track.projection.fold(facts, [next(found) for _ in reads])
            after = track.projection.after(before, facts)
            after = msgspec.structs.replace(after, counts=chunk.counts)
            calls.append(track.generation.change(before, after, [*writes, *_freed(track, chunk)]))
            afters.append(after)
        replies = scripts.call_all(self._client, calls)
        for track, after, reply in zip(tracks, afters, replies, strict=True):
            if track.heed(reply, after):
                track.noted -= _went_on(track, chunk)
                track.waiting = track.waiting or track.projection.defers(facts)

    # what is taken in order

    def _turns(self, track: Track, until: Checkpoint | None) -> int:
        """Take in order what is older than the track's mark, if it has read that far."""
        assert isinstance(track.projection, OrderedProjection)
        if track.rests or not _is_complete(track, until):
            return 0
        due = self._due(track, until)
        try:
            return self._take(track, track.projection, due) if due else 0
        except _PASSING:
            raise
        except Exception as error:  # noqa: BLE001 - it is told, and the projection stops
            self._stop(track, due, error)
            return 0

    def _due(self, track: Track, until: Checkpoint | None) -> list[Due]:
        """Return the next whose turn has come; afterwards the track knows whether others wait."""
        key = track.generation.key(PENDING)
        # only what is older than the mark: at its very time more may come
        end = str(until.last[0]) if until else f"({track.mark.at if track.mark else 0}"
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zrangebyscore(key, "-inf", end, start=0, num=TURNS, withscores=True)
            pipe.zcard(key)
            found, waiting = pipe.execute()
        due = [Due.read(member, score) for member, score in found]
        if until is not None:
            due = [turn for turn in due if turn.place <= until.last]
        if len(due) < TURNS:
            track.mark = None
            track.waiting = waiting > len(due)
        return due

    def _take(self, track: Track, projection: OrderedProjection, due: Sequence[Due]) -> int:
        reads = projection.due_needs(due)
        with self._client.pipeline(transaction=False) as pipe:
            track.generation.reads(pipe, reads)
            found = pipe.execute()
        writes: list[Write] = list(projection.due_fold(due, found))
        writes += _taken(due, len(track.checkpoint.counts))
        if _ORDER in track.noted:
            writes.append(("HDEL", STUCK, _ORDER))
        before = track.checkpoint
        after = msgspec.structs.replace(before, last=due[-1].place)
        call = track.generation.change(before, after, writes)
        (reply,) = scripts.call_all(self._client, [call])
        if not track.heed(reply, after):
            track.waiting = True
            return 0
        track.noted.discard(_ORDER)
        return len(due)

    # what fails

    def _block(self, tracks: Iterable[Track], leaf: Unreadable) -> None:
        what = f"leaf {leaf.index} of shard {leaf.shard}"
        for track in tracks:
            track.blocked[leaf.shard] = time.monotonic() + RETRY_SECONDS
            self._note(track, str(leaf.shard), what, leaf.error)

    def _stop(self, track: Track, due: Sequence[Due], error: Exception) -> None:
        track.waiting = True
        track.rests_until = time.monotonic() + RETRY_SECONDS
        _, board, seq = due[0].place
        self._note(track, _ORDER, f"event {seq} of match {board} or one soon after it", error)

    def _note(self, track: Track, where: str, what: str, error: Exception) -> None:
        """Say, once for each place, that a projection has stopped there."""
        said = f"{type(error).__name__}: {error}"
        stuck = Stuck(what, time.time_ns() // 1_000_000, said)
        known = track.shelf.stuck(track.generation).get(where)
        if known is None or known.what != what:
            logger.error(
                "ALARM: %s can't take in %s now; it is tried again every %d s, and what comes behind "
                "it there is listed after it. Matches and what else is listed go on",
                track.projection.spec.name,
                what,
                RETRY_SECONDS,
                exc_info=error,
            )
            track.shelf.note_stuck(track.generation, where, stuck)
        track.noted.add(where)


def _together(tracks: Iterable[Track]) -> list[list[Track]]:
    """Group tracks that can be fed from one reading."""
    groups: dict[tuple[object, ...], list[Track]] = {}
    for track in tracks:
        place = (track.checkpoint.counts, tuple(sorted(track.blocked)))
        groups.setdefault(place, []).append(track)
    return list(groups.values())


def _is_complete(track: Track, until: Checkpoint | None) -> bool:
    """Return whether everything has been read that is to be taken in order."""
    counts = track.checkpoint.counts
    if until is not None:
        return counts == until.counts
    return track.mark is not None and all(
        count >= end for count, end in zip(counts, track.mark.ends, strict=True)
    )


def _taken(due: Sequence[Due], shards: int) -> list[Write]:
    """Return what takes events away that waited for their turn."""
    rows: dict[str, list[str]] = {PENDING: [turn.member for turn in due]}
    for turn in due:
        rows.setdefault(pending_of(shard_of(turn.place[1], shards)), []).append(turn.member)
    return [("ZREM", key, *members) for key, members in rows.items()]


def _went_on(track: Track, chunk: Chunk) -> set[str]:
    """Return the shards that were stuck and are not any more."""
    if not track.noted:
        return set()
    return {str(leaf.shard) for leaf in chunk.leaves} & track.noted


def _freed(track: Track, chunk: Chunk) -> list[Write]:
    """Return what takes the notes of those shards away."""
    return [("HDEL", STUCK, shard) for shard in sorted(_went_on(track, chunk))]
