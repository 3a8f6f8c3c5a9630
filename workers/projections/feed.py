"""Feeds tracks from the logs: one read serves all that have the same position.

A round reads a chunk, folds it, and writes the data of each bucket together with its new checkpoint. A
bucket in which nothing changes is not written. A kill between any two steps leaves both written or neither,
and the next round goes on from the checkpoint. A writer that was overtaken finds another checkpoint than it
read, and writes nothing. So no lease is needed.

A failure is narrowed down: each track is fed alone, and then leaf by leaf. The leaf that fails stops that one
bucket, in that one shard, and is tried again later.

A track: a bucket that is fed, and its position in the logs.

The position may be ahead of the stored checkpoint, as long as the leaves between them change nothing in the
bucket. It is stored with the next change, or after `SAVE_LEAVES` leaves or `Projection.save_seconds`, so that a move costs
writes only in the buckets that it changes. What a killed worker has not stored is read again.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from math import inf
from typing import Final

import msgspec
import redis
from redis.exceptions import ConnectionError as LostConnectionError
from redis.exceptions import TimeoutError as NoAnswerError

from domain.records import AccountId
from infra.projections.buckets import (
    FAILURES,
    Bucket,
    Checkpoint,
    ProjectionFailure,
    RedisWrite,
    make_changes,
)
from infra.projections.erasure import mark_erased
from infra.projections.generations import BUFFER, Generations
from infra.projections.projection import Fact, Projection
from infra.projections.reorder import BufferedEvent, OrderedProjection, buffer_of
from infra.redis.keys import shard_of
from infra.store.channels import LogListener
from infra.store.port import Store, Watermark
from workers.projections.log_reader import BATCH, LogChunk, LogReader, UnreadableLeaf

SAVE_LEAVES: Final = 256
"""Leaves without a change after which the position is stored."""

FROZEN_SECONDS: Final = 0.2
"""Until a bucket that is frozen by a verification is tried again."""

MOST_REGISTERED: Final = 100_000
"""Keys that a track remembers as registered; to register one again is harmless."""


class Track:
    """A bucket of a generation, and its position in the logs."""

    is_shared = False
    """Whether other processes write with the same checkpoint, for other shards."""

    def __init__(
        self,
        projection: Projection,
        generations: Generations,
        bucket: Bucket,
        checkpoint: Checkpoint,
    ) -> None:
        self.projection = projection
        self.generations = generations
        self.bucket = bucket
        self.checkpoint = checkpoint
        """As it is stored."""
        self.position = checkpoint
        """How far it has read."""
        self.gone = False
        """Whether the generation has been replaced or deleted."""
        self.blocked: dict[int, float] = {}
        """Shards in which a leaf failed, each with the time of the next attempt."""
        self.stuck_places = set(generations.failures(bucket))
        """The places that are noted as stuck."""
        self.paused_until = 0.0
        self.waiting = isinstance(projection, OrderedProjection)
        """Whether events may wait for their turn."""
        self.watermark: Watermark | None = None
        """Up to its time events can be folded in order, once its ends are read."""
        self.registered: set[str] = set()
        """Keys that this process has added to the bucket's set of keys."""
        self.read_at = time.monotonic()
        """When the checkpoint was last read: what is deleted is asked after that."""
        self._save_at = 0.0

    @property
    def is_paused(self) -> bool:
        """Whether it is not fed for now."""
        return self.gone or time.monotonic() < self.paused_until

    @property
    def is_unsaved(self) -> bool:
        """Whether it has read leaves that its stored checkpoint does not count."""
        return self.stored(self.position) != self.checkpoint

    @property
    def due_seconds(self) -> float:
        """Return in how many seconds its position is to be stored: 0 for now."""
        if not self.is_unsaved:
            return inf
        unsaved = sum(self.stored(self.position).counts) - sum(self.checkpoint.counts)
        return 0.0 if unsaved >= SAVE_LEAVES else max(0.0, self._save_at - time.monotonic())

    def unblock(self) -> None:
        """Free the shards that are due for another attempt."""
        now = time.monotonic()
        self.blocked = {shard: end for shard, end in self.blocked.items() if now < end}

    def advance(self, counts: tuple[int, ...]) -> None:
        """Note that it has read leaves that change nothing."""
        if not self.is_unsaved:
            self._save_at = time.monotonic() + self.projection.save_seconds
        self.position = msgspec.structs.replace(self.position, counts=counts)

    def reload(self) -> None:
        """Read the checkpoint again; if it is another, the position is what it says."""
        found = self.generations.checkpoint(self.bucket)
        self.read_at = time.monotonic()
        self.gone = found is None
        if found is not None and found != self.checkpoint:
            self.checkpoint = self.position = found
            # another worker may have buffered events
            self.waiting = isinstance(self.projection, OrderedProjection)

    def stored(self, position: Checkpoint) -> Checkpoint:
        """Return the checkpoint to store for a position."""
        return position

    def apply_reply(self, reply: bytes, after: Checkpoint) -> bool:
        """Take over the result of a change; return whether it was made."""
        if reply == b"done":
            self.checkpoint, self.position = self.stored(after), after
        elif reply == b"held":
            self.paused_until = time.monotonic() + FROZEN_SECONDS
        else:
            self.reload()
        return reply == b"done"

    def register(self, names: list[str]) -> None:
        """Remember keys that are in the bucket's set of keys now."""
        if len(self.registered) + len(names) > MOST_REGISTERED:
            self.registered.clear()
        self.registered.update(names)


logger = logging.getLogger(__name__)

RETRY_SECONDS: Final = 10.0
"""Until a leaf that failed is tried again."""

DUE_BATCH: Final = 500
"""How many events are folded in their order together."""

MOST_PRESENT: Final = 10_000
"""Accounts that are remembered not to be deleted."""

_SERVER_ERRORS: Final = (LostConnectionError, NoAnswerError)
"""Failures of the server, not of a projection."""

_IN_ORDER: Final = "order"


class Feed:
    """Feeds tracks."""

    def __init__(self, store: Store, client: redis.Redis, batch: int = BATCH) -> None:
        """`batch` is about how many leaves are folded together."""
        self._store = store
        self._client = client
        self._batch = batch
        self._reader = LogReader(store, batch)
        self._present: set[AccountId] = set()
        """Accounts that were not deleted at `_asked_at` or later."""
        self._asked_at = 0.0

    def round(self, tracks: Sequence[Track], until: Sequence[int] | None = None) -> int:
        """Read a chunk, and fold what is due in order; return the number of leaves and folded events.

        With `until`, leaves from those indexes on are not read, and nothing is folded in order yet.
        """
        awake = [track for track in tracks if not track.is_paused]
        for track in awake:
            track.unblock()
        # before the read, because otherwise it is never reached while people play
        if until is None and (
            marked := [track for track in awake if track.waiting and track.watermark is None]
        ):
            watermark = self._store.watermark()
            for track in marked:
                track.watermark = watermark
        done = 0
        for group, front in _reads(awake, self._batch):
            read = self._read(group, front or until)
            # leaves up to the front that are not there are lost, and nobody will ever catch up to it
            done += read or (self._read(group, until) if front else 0)
        if until is None:
            done += sum(self._fold_due(track) for track in awake if track.waiting)
        if any(not track.due_seconds for track in awake):
            # all of them, because one call stores the positions of many
            self.save(awake)
        return done

    def save(self, tracks: Iterable[Track]) -> None:
        """Store the positions of tracks that have read leaves without a change."""
        unsaved = [track for track in tracks if track.is_unsaved and not track.gone]
        calls = [
            one.bucket.change_call(one.checkpoint, one.stored(one.position)) for one in unsaved
        ]
        replies = make_changes(self._client, calls)
        for track, reply in zip(unsaved, replies, strict=True):
            track.apply_reply(reply, track.position)

    def wait(self, tracks: Iterable[Track], news: LogListener, seconds: float) -> None:
        """Wait until there may be leaves to read or a position to store, or so long."""
        ends: dict[int, int] = {}
        for track in tracks:
            if not track.is_paused:
                seconds = min(seconds, track.due_seconds)
                for shard, count in enumerate(track.position.counts):
                    # a blocked shard must not end the wait
                    if shard not in track.blocked:
                        ends[shard] = max(count, ends.get(shard, 0))
        self._reader.wait(ends, news, seconds)

    def take_grown(self) -> set[int]:
        """Return the shards whose logs had news since the last call, leaves that were read or not."""
        grown, self._reader.grown = self._reader.grown, set()
        return grown

    def _read(self, tracks: Sequence[Track], limit: Sequence[int] | None) -> int:
        """Read a chunk for tracks at the same position; return the number of leaves."""
        first = tracks[0]
        start = first.position.counts
        chunk = self._reader.read(start, first.blocked, limit)
        for leaf in chunk.unreadable:
            # a track is blocked only once it has folded all leaves before this one
            if chunk.counts[leaf.shard] == start[leaf.shard]:
                self._block(tracks, leaf)
        if chunk.leaves:
            shared = [track for track in tracks if track.is_shared]
            if apart := [track for track in tracks if not track.is_shared]:
                self._fold(apart, chunk)
            if shared:  # by themselves, because another process may write between read and write
                self._fold(shared, chunk)
        return len(chunk.leaves)

    def _fold(self, tracks: Sequence[Track], chunk: LogChunk) -> None:
        for track in tracks:
            if track.is_shared:
                track.reload()
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
                if track.position.counts == chunk.start and not track.gone:
                    self._fold([track], chunk)
            return
        track = tracks[0]
        for leaf in chunk.leaves:
            start = track.position.counts
            # a leaf before was stuck, or another worker was faster
            if track.gone or leaf.shard in track.blocked or leaf.index != start[leaf.shard]:
                continue
            self._fold(tracks, LogChunk.of(start, (leaf,)))

    def _write_chunk(self, tracks: Sequence[Track], chunk: LogChunk) -> None:
        """Fold a chunk for each track, and write the results."""
        # one that is deleted later changes the checkpoints, and what was read before is not written
        if (
            len(self._present) > MOST_PRESENT
            or max(one.read_at for one in tracks) >= self._asked_at
        ):
            self._present, self._asked_at = set(), time.monotonic()
        routes = _Routes(mark_erased(self._client, chunk.all_facts, self._present))
        changing = []
        for track in tracks:
            facts = routes.facts_of(track)
            if _changes(track, facts) or _unstuck_shards(track, chunk):
                changing.append((track, facts))
            else:
                track.advance(chunk.counts)
        needs = [track.projection.needs(facts, track.bucket) for track, facts in changing]
        with self._client.pipeline(transaction=False) as pipe:
            for (track, _), reads in zip(changing, needs, strict=True):
                track.bucket.add_reads(pipe, reads)
            found = iter(pipe.execute())
        written, calls = [], []
        for (track, facts), reads in zip(changing, needs, strict=True):
            projection, before = track.projection, track.position
            writes = projection.fold(facts, [next(found) for _ in reads], track.bucket)
            writes += _clear_stuck(track, chunk)
            after = projection.after(before, facts, track.bucket)
            if not writes and after == before:
                track.advance(chunk.counts)
                continue
            after = msgspec.structs.replace(after, counts=chunk.counts)
            calls.append(
                track.bucket.change_call(
                    track.checkpoint, track.stored(after), writes, track.registered
                )
            )
            written.append((track, facts, writes, after))
        replies = make_changes(self._client, calls)
        for (track, facts, writes, after), reply in zip(written, replies, strict=True):
            if track.apply_reply(reply, after):
                track.register([str(key) for _, key, *_ in writes])
                track.stuck_places -= _unstuck_shards(track, chunk)
                track.waiting = track.waiting or track.projection.defers(facts, track.bucket)

    def _fold_due(self, track: Track) -> int:
        """Fold in order what is older than the track's watermark, if it has read that far."""
        assert isinstance(track.projection, OrderedProjection)
        if track.is_paused or not _has_read_all(track):
            return 0
        due = self._next_due(track)
        try:
            return self._write_due(track, track.projection, due) if due else 0
        except _SERVER_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - it is noted, and the projection stops
            self._stop(track, due, error)
            return 0

    def _next_due(self, track: Track) -> list[BufferedEvent]:
        """Return the next events whose turn has come, and note whether others wait."""
        key = track.bucket.key(BUFFER)
        # only what is older than the watermark, because at its very time more may come
        end = f"({track.watermark.at if track.watermark else 0}"
        with self._client.pipeline(transaction=False) as pipe:
            pipe.zrangebyscore(key, "-inf", end, start=0, num=DUE_BATCH, withscores=True)
            pipe.zcard(key)
            found, waiting = pipe.execute()
        due = [BufferedEvent.read(member, score) for member, score in found]
        if len(due) < DUE_BATCH:
            track.watermark = None
            track.waiting = waiting > len(due)
        return due

    def _write_due(
        self, track: Track, projection: OrderedProjection, due: Sequence[BufferedEvent]
    ) -> int:
        reads = projection.ordered_needs(due)
        with self._client.pipeline(transaction=False) as pipe:
            track.bucket.add_reads(pipe, reads)
            found = pipe.execute()
        writes: list[RedisWrite] = list(projection.ordered_fold(due, found))
        writes += remove_pending(due, len(track.position.counts))
        if _IN_ORDER in track.stuck_places:
            writes.append(("HDEL", FAILURES, _IN_ORDER))
        after = msgspec.structs.replace(track.position, last=due[-1].place)
        call = track.bucket.change_call(track.checkpoint, after, writes, track.registered)
        (reply,) = make_changes(self._client, [call])
        if not track.apply_reply(reply, after):
            track.waiting = True
            return 0
        track.register([str(key) for _, key, *_ in writes])
        track.stuck_places.discard(_IN_ORDER)
        return len(due)

    def _block(self, tracks: Iterable[Track], leaf: UnreadableLeaf) -> None:
        what = f"leaf {leaf.index} of shard {leaf.shard}"
        alarmed: set[str] = set()
        for track in tracks:
            track.blocked[leaf.shard] = time.monotonic() + RETRY_SECONDS
            if self._note_stuck(track, str(leaf.shard), what, leaf.error):
                alarmed.add(track.projection.spec.name)
        for name in sorted(alarmed):
            _alarm(name, what, leaf.error)

    def _stop(self, track: Track, due: Sequence[BufferedEvent], error: Exception) -> None:
        track.waiting = True
        track.paused_until = time.monotonic() + RETRY_SECONDS
        _, board, seq = due[0].place
        what = f"event {seq} of match {board} or one soon after it"
        if self._note_stuck(track, _IN_ORDER, what, error):
            _alarm(track.projection.spec.name, what, error)

    def _note_stuck(self, track: Track, where: str, what: str, error: Exception) -> bool:
        """Note that a bucket has stopped at a place; return whether that was not noted before."""
        said = f"{type(error).__name__}: {error}"
        stuck = ProjectionFailure(what, time.time_ns() // 1_000_000, said)
        known = track.generations.failures(track.bucket).get(where)
        track.stuck_places.add(where)
        if known is not None and known.what == what:
            return False
        track.generations.note_failure(track.bucket, where, stuck)
        return True


def _alarm(name: str, what: str, error: Exception) -> None:
    """Log that a projection has stopped, once for all its buckets."""
    logger.error(
        "ALARM: %s can't fold %s now; it is tried again every %d s, and what comes after "
        "it there waits for it. Matches and the other lists go on",
        name,
        what,
        RETRY_SECONDS,
        exc_info=error,
    )


class _Routes:
    """The facts of a chunk by bucket; those of a projection are routed once for all its buckets."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._facts = facts
        self._settling = [fact for fact in facts if fact.settles]
        self._routed: dict[tuple[Projection, int], list[list[Fact]]] = {}

    def facts_of(self, track: Track) -> list[Fact]:
        """Return the facts that a track folds."""
        place = track.projection, track.bucket.count
        if place not in self._routed:
            facts = self._settling if track.projection.settled_only else self._facts
            self._routed[place] = track.projection.route(facts, track.bucket.count)
        return self._routed[place][track.bucket.number]


def _changes(track: Track, facts: Sequence[Fact]) -> bool:
    """Return whether facts may change a bucket, its checkpoint's counts apart."""
    if not isinstance(track.projection, OrderedProjection):
        return bool(facts)
    before, bucket = track.position, track.bucket
    # without buffered events there is no place to change
    return bool(facts) and (
        track.waiting
        or track.projection.defers(facts, bucket)
        or track.projection.after(before, facts, bucket) != before
    )


def _reads(tracks: Iterable[Track], batch: int) -> list[tuple[list[Track], Sequence[int] | None]]:
    """Return groups of tracks that can be fed from one read of a batch, each with where the read ends.

    Tracks that are a little behind the others first catch up to them, so that one read serves all again.
    """
    groups: dict[tuple[object, ...], list[Track]] = {}
    for track in tracks:
        place = (track.position.counts, tuple(sorted(track.blocked)))
        groups.setdefault(place, []).append(track)
    free = [one for one in groups.values() if not one[0].blocked]
    front = max((one[0].position.counts for one in free), key=sum, default=())
    behind = [one for one in free if _is_close(one[0].position.counts, front, batch)]
    found: list[tuple[list[Track], Sequence[int] | None]] = [(one, front) for one in behind]
    # those in front wait for them
    apart = [*behind, *(one for one in free if behind and one[0].position.counts == front)]
    return [*found, *((one, None) for one in groups.values() if one not in apart)]


def _is_close(counts: Sequence[int], front: Sequence[int], batch: int) -> bool:
    """Return whether the difference between two positions can be read in one round."""
    differences = [one - other for one, other in zip(front, counts, strict=True)]
    return min(differences, default=0) >= 0 and 0 < sum(differences) <= batch


def _has_read_all(track: Track) -> bool:
    """Return whether all events to fold in order are read."""
    return track.watermark is not None and all(
        count >= end for count, end in zip(track.position.counts, track.watermark.ends, strict=True)
    )


def remove_pending(due: Sequence[BufferedEvent], shards: int) -> list[RedisWrite]:
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
