"""Builds generations with several processes of this machine, each with the leaves of one shard at a time.

A process tells after each chunk how far all have written. If it ends before its shard is read, another process goes
on from the stored checkpoints. The processes end with the one that began them, at the latest after their next chunk.
"""

import logging
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Final

import msgspec
import redis

from infra.process.intervals import every
from infra.process.machine import few_collections, usable_cores
from infra.projections.generations import RENEW_SECONDS, Generation
from infra.projections.projection import Projection
from infra.store.port import Store
from workers.projections.feed import Feed
from workers.projections.rebuild import Rebuild, StuckError
from workers.projections.shards import (
    CHUNK,
    fold_shard,
    least_folded,
    tracks_of_shard,
)

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

logger = logging.getLogger(__name__)

MOST_PROCESSES: Final = 4
"""As many as one server of the data keeps busy; more are worth it on a cluster, if they are asked for."""

LEAVES_OF_A_PROCESS: Final = 200_000
"""Leaves for which a further process is worth its start."""

MOST_LOST: Final = 3
"""Processes that end with the same shard until the rebuild is given up."""

_LOOK_SECONDS: Final = 1.0
_END_SECONDS: Final = 30.0
_NICENESS: Final = 10
"""The server that runs comes first."""

OpenParts = Callable[[], AbstractContextManager[tuple[Store, redis.Redis]]]
"""Opens a store and a client of the data, in another process; it can be pickled."""

Built = Sequence[tuple[Projection, Generation]]


class _Told(msgspec.Struct, frozen=True):
    """The news of a process about its shard."""

    folded: int
    """How many of its leaves all generations have."""
    over: bool = False
    """Whether it goes no further."""


class _Folding:
    """A process, and the shard that it reads."""

    def __init__(self, open_parts: OpenParts, built: Built, ends: Sequence[int]) -> None:
        context: Any = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=_fold_shards, args=(open_parts, built, ends, other), daemon=True
        )
        self.process.start()
        other.close()  # so that the end of the process is the end of the pipe
        self.shard: int | None = None

    def begin(self, shard: int) -> None:
        """Have it read a shard."""
        self.shard = shard
        with suppress(ConnectionError):  # it has ended, which the next look shows
            self.pipe.send(shard)

    def told(self) -> _Told | None:
        """Return what it tells; None if it has ended."""
        try:
            found: _Told = self.pipe.recv()
        except (EOFError, ConnectionError):
            return None
        return found

    def end(self) -> None:
        """End it, wherever it is: its checkpoints say how far it came."""
        self.process.terminate()
        self.process.join()
        self.pipe.close()


def _fold_shards(
    open_parts: OpenParts, built: Built, ends: Sequence[int], pipe: Connection
) -> None:
    """Fold the shards that the pipe names, as long as somebody holds its other end."""
    # a terminal sends it to all, and the first process ends this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    ends_here = suppress(EOFError, BrokenPipeError)
    with open_parts() as (store, client), few_collections(), ends_here:
        feed = Feed(store, client, CHUNK)
        while True:
            shard = pipe.recv()
            tracks = tracks_of_shard(client, built, shard)
            for folded in fold_shard(feed, tracks, shard, ends):
                pipe.send(_Told(folded))
            pipe.send(_Told(least_folded(tracks, shard), over=True))


class ShardProcesses:
    """Processes that read the shards of a rebuild: as many as asked for, or as are worth it."""

    def __init__(self, open_parts: OpenParts, count: int | None = None) -> None:
        self._open_parts = open_parts
        self._asked = count

    def count(self, ends: Sequence[int]) -> int:
        """Return how many to use for logs of these sizes."""
        own = min(usable_cores(), MOST_PROCESSES, 1 + sum(ends) // LEAVES_OF_A_PROCESS)
        return max(1, min(self._asked or own, sum(end > 0 for end in ends)))

    def fold(
        self, rebuilds: Sequence[Rebuild], ends: Sequence[int], progress: Callable[[int], None]
    ) -> None:
        """Fold the logs up to these ends; `progress` is called with the number of leaves that all have folded.

        `StuckError` if a leaf can't be folded, `BusyError` if another rebuild took over.
        """
        for rebuild in rebuilds:
            rebuild.divide()
        run = _Run(self._open_parts, rebuilds, ends, self.count(ends))
        try:
            while run.go_on():
                progress(sum(run.folded))
        finally:
            run.end()
        for rebuild in rebuilds:
            rebuild.unite()


class _Run:
    """The processes at work."""

    def __init__(
        self, open_parts: OpenParts, rebuilds: Sequence[Rebuild], ends: Sequence[int], most: int
    ) -> None:
        self.folded = [0] * len(ends)
        """How many leaves of each shard all generations have."""
        self._open_parts = open_parts
        self._rebuilds = rebuilds
        self._ends = ends
        self._most = most
        self._processes: list[_Folding] = []
        # the longest last, from where they are taken: at the end no process works alone for long
        self._waiting = sorted(filter(ends.__getitem__, range(len(ends))), key=ends.__getitem__)
        self._lost: Counter[int] = Counter()
        self._renew_at_times = every(RENEW_SECONDS, self._renew)

    def go_on(self) -> bool:
        """Hear the processes for a moment; return False once all shards are folded."""
        self._assign()
        busy: dict[Any, _Folding] = {
            one.pipe: one for one in self._processes if one.shard is not None
        }
        if not busy:
            return False
        for pipe in wait(list(busy), _LOOK_SECONDS):
            self._hear(busy[pipe])
        self._renew_at_times()
        return True

    def end(self) -> None:
        """End all processes."""
        for one in self._processes:
            one.end()

    def _assign(self) -> None:
        idle = [one for one in self._processes if one.shard is None]
        while self._waiting and (idle or len(self._processes) < self._most):
            if not idle:
                built = [(one.projection, one.generation) for one in self._rebuilds]
                idle.append(_Folding(self._open_parts, built, self._ends))
                self._processes += idle
            idle.pop().begin(self._waiting.pop())

    def _hear(self, one: _Folding) -> None:
        assert one.shard is not None
        told = one.told()
        if told is None:
            self._replace(one, one.shard)
            return
        self.folded[one.shard] = told.folded
        if not told.over:
            return
        if told.folded < self._ends[one.shard]:
            self._renew()
            for rebuild in self._rebuilds:
                rebuild.check_stuck()
            raise StuckError(f"the leaves of shard {one.shard} can't be read up to their end")
        one.shard = None

    def _replace(self, one: _Folding, shard: int) -> None:
        """Let another process go on with a shard whose process has ended."""
        self._processes.remove(one)
        one.process.join(_END_SECONDS)  # its pipe ends a little earlier
        one.end()
        self._lost[shard] += 1
        said = (
            f"the process that read shard {shard} has ended with exit code {one.process.exitcode}"
        )
        if self._lost[shard] == MOST_LOST:
            raise StuckError(f"{said}, and so have {MOST_LOST - 1} before it")
        logger.warning("%s; another one goes on where it was", said)
        self._waiting.append(shard)

    def _renew(self) -> None:
        for rebuild in self._rebuilds:
            rebuild.renew()
