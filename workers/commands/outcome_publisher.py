"""The messages that a drain publishes after a batch: outcomes, and the matches and logs that have changed."""

import redis

from infra.process.failpoints import failpoint
from infra.store.channels import add_log_news, add_news
from infra.store.lost_leaves import add_log_ends
from infra.store.outcomes import CommandOutcome, OutcomeMessage, add_outcomes
from infra.store.port import Write


class OutcomePublisher:
    """Collects what has been committed, and publishes it on the server of the queue."""

    def __init__(self, queue: redis.Redis) -> None:
        self._queue = queue
        self._outcomes: dict[str, list[OutcomeMessage]] = {}
        """Committed outcomes, by the channels on which their senders listen."""
        self._changed: dict[int, int] = {}
        """The matches that have changed, each with the number of its last event."""
        self._grown: set[int] = set()
        """The shards whose logs have new leaves."""
        self._ends: dict[int, int] = {}
        """Where their logs ended after the last commit."""

    def add_outcome(self, channel: str, write: Write, stored: bytes) -> None:
        """Add the outcome of a command."""
        self._outcomes.setdefault(channel, []).append((write.id, stored))
        self._grown.add(write.shard)

    def add_growth(self, write: Write, outcome: CommandOutcome) -> None:
        """Add where the log of a write's shard ends after it, and that its match has changed, if it has."""
        self._ends[write.shard] = outcome.index + len(write.leaves)
        if write.snapshot is not None:
            self._changed[write.board] = outcome.seq + len(write.leaves) - 1

    def publish(self) -> None:
        """Publish what was added since the last time."""
        if not self._outcomes:
            return
        with self._queue.pipeline(transaction=False) as pipe:
            add_log_ends(pipe, self._ends)
            add_outcomes(pipe, self._outcomes)
            add_news(pipe, self._changed)
            add_log_news(pipe, self._grown)
            pipe.execute()
        self._outcomes, self._changed, self._grown, self._ends = {}, {}, set(), {}
        failpoint("drain.announced")
