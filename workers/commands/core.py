"""The core at a glance: read the commands that wait, decide them, commit what was decided, publish the outcomes.

Nothing else is here. `workers.commands.drain` takes these steps for a lane. Around them it has what many senders
and failures need: fair turns, suspects, chunks that are committed while the next are decided, the gate, and marks.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from domain.match import commands
from domain.match.decision import Rejection
from infra.store import outcomes
from infra.store.outcomes import CommandOutcome
from infra.store.port import (
    CommitClosed,
    CommitConflict,
    CommitDone,
    CommitResult,
    CommitUnderWay,
    InboxEntry,
    LogCutOff,
    Store,
    Write,
)
from workers.commands.handle import CommandHandler, Task, Undecided, read_task
from workers.commands.outcome_publisher import OutcomePublisher


class Decided(NamedTuple):
    """The write of a command, its kind, and the channel on which its sender listens."""

    write: Write
    kind: str
    reply_to: str


class CommandLoop:
    """The steps from inboxes to outcomes; `run` takes them in a row."""

    def __init__(self, store: Store, handler: CommandHandler, publisher: OutcomePublisher) -> None:
        self._store = store
        self._handler = handler
        self._publisher = publisher

    def run(self, shards: Sequence[int], count: int) -> int:
        """Work on about `count` of the oldest commands; return the number of outcomes."""
        tasks = self.read(self._store.read_inbox(shards, count))
        self._handler.load({task.sent.match for task in tasks})
        decided = [one for _, one in self.decide(tasks, set()) if isinstance(one, Decided)]
        if not decided:
            return 0
        self._handler.record_seeds()
        results = self.commit([one.write for one in decided])
        done = [self.add(*pair) for pair in zip(decided, results, strict=True)]
        self._publisher.publish()
        return sum(outcome is not None for outcome in done)

    def read(self, entries: Iterable[InboxEntry]) -> list[Task]:
        """Return the commands of inbox entries; an entry that can't be decoded is set aside."""
        return [task for entry in entries if (task := read_task(self._store, entry))]

    def decide(
        self, tasks: Iterable[Task], blocked_matches: set[int], verdict: Rejection | None = None
    ) -> Iterator[tuple[Task, Decided | Undecided]]:
        """Decide commands in order, each on the state after the one before, or give all the same verdict.

        Those of blocked matches are left out; one that can't be decided blocks its match.
        """
        for task in tasks:
            if task.sent.match in blocked_matches:
                continue
            write = self._handler.handle(task, verdict)
            if isinstance(write, Undecided):
                blocked_matches.add(task.sent.match)
                yield task, write
            else:
                kind = commands.tag_of(task.sent.command)
                yield task, Decided(write, kind, task.entry.reply_to)

    def commit(self, writes: Sequence[Write]) -> list[CommitResult]:
        """Commit writes; each applies whole, or not at all if its match has moved on."""
        return self._store.commit(writes)

    def begin_commit(self, writes: Sequence[Write]) -> CommitUnderWay:
        """Begin to commit them; what is returned waits for the results."""
        return self._store.begin_commit(writes)

    def add(self, decided: Decided, result: CommitResult) -> CommandOutcome | None:
        """Add an outcome to the next messages; None if there is none, and the command is decided again."""
        if isinstance(result, CommitConflict | CommitClosed | LogCutOff):
            return None
        write, outcome = decided.write, outcomes.parse(result.stored)
        self._publisher.add_outcome(decided.reply_to, write, result.stored)
        if isinstance(result, CommitDone):
            self._publisher.add_growth(write, outcome)
        return outcome
