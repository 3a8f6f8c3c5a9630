"""Publishes the leaves of one shard, after proving that they continue what is published."""

from collections.abc import Sequence

from infra.failpoints import failpoint
from infra.log.log_writer import LogWriter
from infra.store.closed_shards import ClosedShard, forked, rolled_back
from infra.store.published_sizes import PublishedSizes


class ForkError(Exception):
    """The data do not continue what is published; the message is a sentence."""


class ClosingError(ForkError):
    """The data lack published leaves, or have another history: the shard takes no command."""

    def __init__(self, why: ClosedShard) -> None:
        super().__init__(why.reason)
        self.why = why


class ShardPublisher:
    """Publishes a shard from where its checkpoint ends; make a new one after any error."""

    def __init__(self, writer: LogWriter, sizes: PublishedSizes) -> None:
        writer.load()
        recorded = sizes.recorded_size(writer.shard)
        if writer.size < recorded:
            raise ForkError(
                f"shard {writer.shard}: {recorded} leaves were published, and the object store has a "
                f"checkpoint of {writer.size}: it is another store, or an older copy of it"
            )
        self._writer = writer
        self._sizes = sizes
        # before the comparison, because drains have to know it where the data lack leaves
        self._record()
        self._compared = False
        """Whether the end of the published log has been compared with the data."""

    @property
    def size(self) -> int:
        """Return the published size."""
        return self._writer.size

    @property
    def start(self) -> int:
        """Return the first index to read: once, some leaves that are published are compared."""
        return self.size if self._compared else self.size - len(self._writer.recent)

    def publish(self, rows: Sequence[tuple[int, bytes]]) -> int:
        """Publish the leaves that were read from `start`, and return how many; `ForkError` if they can't be."""
        if not self._compared:
            self._compare(rows)
        new = [(index, leaf) for index, leaf in rows if index >= self.size]
        if not new:
            return 0
        for at, (index, _) in enumerate(new, self.size):
            if index != at:
                raise ForkError(
                    f"shard {self._writer.shard}: leaf {at} is missing in the data and is not published"
                )
        self._writer.append([leaf for _, leaf in new])
        self._record()
        return len(new)

    def _compare(self, rows: Sequence[tuple[int, bytes]]) -> None:
        shard, size = self._writer.shard, self.size
        if size and (not rows or rows[-1][0] < size - 1):
            raise ClosingError(rolled_back(shard, size, rows[-1][0] + 1 if rows else None))
        first = size - len(self._writer.recent)
        for index, leaf in rows:
            if index < size and leaf != self._writer.recent[index - first]:
                raise ClosingError(forked(shard, index))
        self._compared = True

    def _record(self) -> None:
        self._sizes.record(self._writer.shard, self._writer.size, self._writer.root)
        failpoint("publish.recorded")
