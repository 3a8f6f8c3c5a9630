"""Folds the log of one shard after the other into generations that nobody reads yet.

A rebuild has all leaves before it, so it folds more of them together than a worker that waits for them, and those
of one shard: then few matches have many leaves in a chunk, and a row or a list is written once for all of them.

Several processes may do it at the same time, each for another shard. The buckets of most projections have a
checkpoint for each shard meanwhile, so that no process waits for another. Where a fold reads what other shards'
facts have written, all share the bucket's one checkpoint, and a process that was overtaken folds the chunk again.
Either way no lease is needed, and the successor of a process that was killed goes on from the checkpoints.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
import redis

from infra.projections.buckets import Bucket, Checkpoint
from infra.projections.generations import Generation, Generations
from infra.projections.projection import Projection
from workers.projections.feed import Feed, Track

CHUNK: Final = 4_000
"""Leaves that are folded together: few enough for a script of some milliseconds."""

_PAUSE_SECONDS: Final = 0.05
"""Until leaves are looked for again that replicas did not confirm."""


class SharedTrack(Track):
    """The leaves of one shard in a bucket whose checkpoint counts those of all, for several processes."""

    is_shared = True

    def __init__(
        self,
        projection: Projection,
        generations: Generations,
        bucket: Bucket,
        checkpoint: Checkpoint,
        shard: int,
    ) -> None:
        super().__init__(projection, generations, bucket, checkpoint)
        self._shard = shard
        self.position = self._of_shard(checkpoint)

    def reload(self) -> None:
        """Read the checkpoint again; leaves of this shard that changed nothing stay read."""
        position, counted = self.position, self.checkpoint.counts[self._shard]
        super().reload()
        again = self.checkpoint.counts[self._shard] == counted
        self.position = position if again else self._of_shard(self.checkpoint)

    def stored(self, position: Checkpoint) -> Checkpoint:
        """Return the checkpoint to store for a position: of other shards it counts what it did."""
        counts = list(self.checkpoint.counts)
        counts[self._shard] = position.counts[self._shard]
        return msgspec.structs.replace(self.checkpoint, counts=tuple(counts))

    def _of_shard(self, checkpoint: Checkpoint) -> Checkpoint:
        counts = [0] * len(checkpoint.counts)
        counts[self._shard] = checkpoint.counts[self._shard]
        return msgspec.structs.replace(checkpoint, counts=tuple(counts))


def tracks_of_shard(
    client: redis.Redis, built: Iterable[tuple[Projection, Generation]], shard: int
) -> list[Track]:
    """Return the tracks of a shard in divided generations; none if one of those is gone."""
    tracks: list[Track] = []
    for projection, generation in built:
        generations = Generations(client, projection.spec)
        for bucket in generation.all:
            mine = bucket.of_shard(shard) if projection.shards_apart else bucket
            checkpoint = generations.checkpoint(mine)
            if checkpoint is None:
                return []
            tracks.append(
                Track(projection, generations, mine, checkpoint)
                if projection.shards_apart
                else SharedTrack(projection, generations, mine, checkpoint, shard)
            )
    return tracks


def fold_shard(
    feed: Feed, tracks: Sequence[Track], shard: int, ends: Sequence[int]
) -> Iterator[int]:
    """Feed tracks with a shard's leaves before its end; yield after each chunk how many all have folded.

    It stops before that end where a leaf can't be folded, or a generation is gone.
    """
    until = [end if number == shard else 0 for number, end in enumerate(ends)]
    while behind := [track for track in tracks if track.position.counts[shard] < until[shard]]:
        if not feed.round(behind, until):
            time.sleep(_PAUSE_SECONDS)
        if any(track.gone or shard in track.blocked for track in behind):
            return
        yield least_folded(tracks, shard)
    while any(track.is_unsaved and not track.gone for track in tracks):
        feed.save(tracks)


def least_folded(tracks: Sequence[Track], shard: int) -> int:
    """Return how many leaves of a shard all tracks have; 0 without any."""
    return min((track.position.counts[shard] for track in tracks), default=0)
