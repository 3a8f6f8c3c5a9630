"""The quarantine of commands that may kill the worker.

A command is a *suspect* if deciding it raised, or if a drain that died had read it. Suspects are
decided one at a time, each attempt is counted before it is made, and after `TRIES` attempts the
command is refused. A sender that repeats a command has it in the inbox more than once, so the
command is the suspect and not the entry: the repetitions of a refused command are not tried. A command
id is unique in its match only, because a sender may use it for another match, too.
"""

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from domain.match.decision import INTERNAL, Rejection
from domain.match.events import CommandId
from infra.process.failpoints import failpoint
from infra.store.port import Store
from workers.commands.handle import Task

logger = logging.getLogger(__name__)

TRIES: Final = 3
"""Counted attempts at a suspect before it is refused as `internal`."""


class Suspect(NamedTuple):
    """Which command it is."""

    match: int
    command: CommandId


def suspect(task: Task) -> Suspect:
    """Return which command a task has."""
    return Suspect(task.sent.match, task.sent.id)


class Suspects:
    """The suspects of one drain; the store counts the attempts at them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting: set[Suspect] = set()
        """Those that have no outcome yet."""

    def __contains__(self, task: Task) -> bool:
        return suspect(task) in self.waiting

    def add(self, tasks: Sequence[Task]) -> None:
        """Decide these commands one at a time from now on."""
        self.waiting.update(map(suspect, tasks))

    def discard(self, match: int, command: CommandId) -> None:
        """Drop a command, because it has an outcome."""
        self.waiting.discard(Suspect(match, command))

    def count_attempt(self, task: Task) -> Rejection | None:
        """Count an attempt before it is made, because it may kill the process.

        Returns the rejection to write instead if there were too many.
        """
        if self._store.outcome(task.sent.match, task.sent.id) is not None:
            # a repetition: the commit finds the stored outcome, and writes nothing
            return INTERNAL
        tries = self._store.count_attempt(task.entry.shard, task.entry.id)
        failpoint("drain.counted")
        if tries > TRIES:
            logger.error("command %s is refused after %d attempts", task.sent.id.hex(), TRIES)
            return INTERNAL
        return None

    def forgive(self, task: Task) -> None:
        """Reset the count: deciding went well, and a failure of the commit is the server's fault."""
        self._store.reset_attempts(task.entry.shard, task.entry.id)
