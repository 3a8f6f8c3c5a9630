"""Leaves that the logs in Redis have no longer: they are read from the published logs.

The published log is imported with the first such leaf, because most processes never read one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from infra.settings.settings import Settings

if TYPE_CHECKING:
    from infra.log.published_log import PublishedLogs


class TrimmedLeavesError(Exception):
    """Leaves were trimmed, and their published log can't be read; the message is a sentence.

    It says nothing about the match: the object store may be away.
    """


class TrimmedLeaves:
    """Reads what was trimmed; without `open_logs`, where nothing ever is, every read is refused."""

    def __init__(self, open_logs: "Callable[[], PublishedLogs] | None") -> None:
        self._open_logs = open_logs
        self._logs: PublishedLogs | None = None
        self._trimmed: dict[int, int] = {}
        """Of each shard, so many leaves at least are known to be trimmed."""

    def covers(self, shard: int, end: int) -> bool:
        """Return whether the leaves below `end` are known to be trimmed."""
        return end <= self._trimmed.get(shard, 0)

    def read(self, shard: int, start: int, end: int) -> list[tuple[int, bytes]]:
        """Return the leaves from `start` up to `end`, which were trimmed, each with its index."""
        self._trimmed[shard] = max(end, self._trimmed.get(shard, 0))
        with self._failures(shard, start):
            log = self._published().of(shard)
            if log.size < end and log.refresh() < end:
                raise LookupError(f"only {log.size} leaves are published")
            return list(enumerate(log.leaves(start, end), start))

    def find(self, shard: int, index: int) -> bytes | None:
        """Return a leaf that the log in Redis lacks; None if it is not published either."""
        if self._open_logs is None:
            return None
        with self._failures(shard, index):
            log = self._published().of(shard)
            if log.size <= index and log.refresh() <= index:
                return None
            return next(log.leaves(index, index + 1))

    def _published(self) -> "PublishedLogs":
        if self._logs is None:
            if self._open_logs is None:
                raise LookupError("this process does not read the published log")
            self._logs = self._open_logs()
        return self._logs

    @contextmanager
    def _failures(self, shard: int, index: int) -> Iterator[None]:
        from infra.log.key_files import LogKeyError  # noqa: PLC0415 - see above
        from infra.log.published_log import LogDamagedError  # noqa: PLC0415
        from infra.log.signed_note import NoteError  # noqa: PLC0415
        from infra.objects.port import ObjectStoreError  # noqa: PLC0415

        try:
            yield
        except (LookupError, LogKeyError, LogDamagedError, NoteError, ObjectStoreError) as error:
            raise TrimmedLeavesError(
                f"leaf {index} of shard {shard} was trimmed, and can't be read from the published log: "
                f"{error}"
            ) from error


def published_logs(settings: Settings) -> "PublishedLogs":
    """Return the published logs of the settings; nothing is read yet."""
    from infra.log.published_log import PublishedLogs  # noqa: PLC0415 - see above

    return PublishedLogs(settings)
