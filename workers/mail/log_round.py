"""Follows the logs from a cursor, command by command; both mail and web push do.

After a kill it goes on from the leaves that are recorded as read, so what it does must be safe to repeat.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

from domain.records import CommandId
from infra.mail.progress import LogCursor
from infra.projections.projection import NO_MATCH, Fact
from infra.store.port import Store
from workers.projections.log_reader import LogChunk, LogReader

logger = logging.getLogger(__name__)


class LogRound(ABC):
    """Reads the next leaves of the logs in each round; `what` is done with them, for the log lines."""

    what: str

    def __init__(self, store: Store, cursor: LogCursor) -> None:
        self._store: Final = store
        self._cursor: Final = cursor
        self._reader = LogReader(store)

    @abstractmethod
    def begin_round(self, chunk: LogChunk) -> None:
        """Prepare for the commands of a chunk."""

    @abstractmethod
    def notify(self, board: int, command: CommandId, fact: Fact) -> None:
        """Send everybody concerned the news of a command in a match; `fact` is its first event."""

    @abstractmethod
    def notify_of_tournament(self, number: int, command: CommandId, fact: Fact) -> None:
        """Send the notices of a command in a tournament; `fact` is the first that has any."""

    def round(self) -> int:
        """Do what the next leaves of the logs ask for; return the number of leaves."""
        start = self._start()
        chunk = self._reader.read(start)
        self.begin_round(chunk)
        for (board, command), facts in _by_command(chunk):
            if facts[0].setup is not NO_MATCH:
                self.notify(board, command, facts[0])
                continue
            if told := [fact for fact in facts if fact.notices]:
                self.notify_of_tournament(board, command, told[0])
        after = self._counts_after(chunk)
        self._cursor.advance(start, after)
        return sum(after) - sum(start)

    def _start(self) -> tuple[int, ...]:
        """Return how far the logs are read. The first time that is their ends."""
        ends = self._store.watermark().ends
        self._cursor.begin(ends)
        found = self._cursor.cursor()
        assert found is not None
        # logs that were restored from a backup may end before the leaves that were read
        start = tuple(min(read, end) for read, end in zip(found, ends, strict=True))
        if start != found:
            logger.warning(
                "the logs end before the leaves that were %s; it goes on from their end", self.what
            )
            self._cursor.advance(found, start)
        return start

    def _counts_after(self, chunk: LogChunk) -> tuple[int, ...]:
        """Return the counts after a chunk, and after its unreadable leaves."""
        counts = list(chunk.counts)
        for leaf in chunk.unreadable:
            if counts[leaf.shard] == leaf.index:
                logger.error(
                    "ALARM: leaf %d of shard %d can't be %s: %s",
                    *(leaf.index, leaf.shard, self.what, leaf.error),
                )
                counts[leaf.shard] += 1
        return tuple(counts)


def _by_command(chunk: LogChunk) -> Iterable[tuple[tuple[int, CommandId], list[Fact]]]:
    """Return the facts, grouped by the command that they come from."""
    found: dict[tuple[int, CommandId], list[Fact]] = {}
    for fact in chunk.all_facts:
        found.setdefault((fact.event.match, fact.event.command), []).append(fact)
    return found.items()
