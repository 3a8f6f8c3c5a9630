"""Publishes the leaves of one shard, after proving that they continue what is published."""

from collections.abc import Sequence

from infra.failpoints import failpoint
from infra.log.log_writer import LogWriter
from infra.store.published_sizes import PublishedSizes

Rows = Sequence[tuple[int, bytes]]
"""Leaves, each with its index."""


class ForkError(Exception):
    """The data do not continue what is published; the message is a sentence."""


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
        if size and (not rows or rows[-1][0] < size - 1):
            end = rows[-1][0] + 1 if rows else "an earlier one"
            raise ForkError(
                f"shard {shard}: {size} leaves are published, and the data end at leaf {end}: they were "
                "rolled back"
            )
        for index, leaf in rows:
            if index < size and leaf != self._writer.recent[index - self.overlap]:
                raise ForkError(
                    f"shard {shard}: leaf {index} in the data is not the one that is published: one of "
                    "them is another history"
                )
        if data.fault or (data.size, queue.size) != (size, size):
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
