"""What a drain announces on the queue's server after a commit: outcomes, and which matches and logs have changed."""

import redis

from domain.match.events import CommandId
from infra.failpoints import failpoint
from infra.store.board_channel import add_news
from infra.store.log_channel import add_log_news
from infra.store.lost_leaves import add_log_ends
from infra.store.outcome_pubsub import OutcomeMessage, add_outcomes


class Announcements:
    """Collects what was committed until it is published; `queue` is a client of the queue's server."""

    def __init__(self, queue: redis.Redis) -> None:
        self._queue = queue
        self._outcomes: dict[str, list[OutcomeMessage]] = {}
        """By the channels on which their senders listen."""
        self._changed: dict[int, int] = {}
        """The matches that have changed, each with the number of its last event."""
        self._grown: set[int] = set()
        """The shards whose logs have new leaves."""
        self._ends: dict[int, int] = {}
        """Where their logs ended after the last commit."""

    def add_outcome(self, channel: str, command: CommandId, stored: bytes, shard: int) -> None:
        """Add an outcome, whose leaves are in a shard's log."""
        self._outcomes.setdefault(channel, []).append((command, stored))
        self._grown.add(shard)

    def add_end(self, shard: int, end: int) -> None:
        """Add where a shard's log ended after a commit."""
        self._ends[shard] = end

    def add_change(self, board: int, seq: int) -> None:
        """Add that a match has events up to a number."""
        self._changed[board] = seq

    def publish(self) -> None:
        """Publish all of it."""
        if not self._outcomes:
            return
        with self._queue.pipeline(transaction=False) as pipe:
            add_log_ends(pipe, self._ends)
            add_outcomes(pipe, self._outcomes)
            for board, seq in self._changed.items():
                add_news(pipe, board, seq)
            add_log_news(pipe, self._grown)
            pipe.execute()
        self._outcomes, self._changed, self._grown, self._ends = {}, {}, set(), {}
        failpoint("drain.announced")
