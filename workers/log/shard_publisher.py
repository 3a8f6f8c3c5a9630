"""Publishes the leaves of one shard, after proving that they continue what is published."""

from collections.abc import Sequence

from infra.audit.log import first_difference
from infra.log.log_writer import LogWriter
from infra.process.failpoints import failpoint
from infra.store.closed_shards import ClosedShard, forked, rolled_back
from infra.store.published_sizes import PublishedSizes

Rows = Sequence[tuple[int, bytes]]
"""Leaves, each with its index."""


class ForkError(Exception):
    """The data do not continue what is published; the message is a sentence."""


class ClosingError(ForkError):
    """The data lack published leaves, or have another history: the shard takes no command."""

    def __init__(self, why: ClosedShard) -> None:
        super().__init__(why.reason)
        self.why = why


class ShardPublisher:
    """Publishes a shard from where its checkpoint ends; make a new one after any error.

    Call `compare` with the leaves from `overlap` on before anything is published.
    """

    def __init__(self, writer: LogWriter, sizes: PublishedSizes) -> None:
        writer.load()
        self._writer = writer
        self._sizes = sizes

    @property
    def size(self) -> int:
        """Return the published size."""
        return self._writer.size

    @property
    def overlap(self) -> int:
        """Return the index of the first published leaf that is compared with the data."""
        return self.size - len(self._writer.recent)

    def compare(self, rows: Rows) -> None:
        """Compare the last published leaves with those in the data; `ForkError` if they differ."""
        shard, size = self._writer.shard, self.size
        data, queue = self._sizes.recorded(shard)
        if size < (most := max(data.size, queue.size)):
            raise ForkError(
                f"shard {shard}: {most} leaves were published, and the object store has a checkpoint of "
                f"{size}: it is another store, or an older copy of it"
            )
        if (data.size, queue.size) != (size, size):
            # before the comparison, because drains have to know it where the data lack leaves
            self._record()
        if size and (not rows or rows[-1][0] < size - 1):
            raise ClosingError(rolled_back(shard, size, rows[-1][0] + 1 if rows else None))
        other = first_difference(rows, self._writer.recent, self.overlap)
        if other is not None:
            raise ClosingError(forked(shard, other))
        if not self._writer.has_checkpoint:
            # so that clients can tell an empty log from none
            self._writer.append([])
        if data.fault:
            self._record()

    def publish(self, rows: Rows) -> int:
        """Publish the leaves that follow, and return how many; `ForkError` if one is missing."""
        for expected, (index, _) in enumerate(rows, self.size):
            if index != expected:
                raise ForkError(
                    f"shard {self._writer.shard}: leaf {expected} is missing in the data and is not "
                    "published"
                )
        if rows:
            self._writer.append([leaf for _, leaf in rows])
            self._record()
        return len(rows)

    def _record(self) -> None:
        self._sizes.record(self._writer.shard, self._writer.size, self._writer.root)
        failpoint("publish.recorded")
