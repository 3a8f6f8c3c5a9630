"""Heartbeats of all processes of a server, on any machine, for the doctor.

| key | what |
|---|---|
| `{beats}` | hash: `<role>/<host>/<process id>` -> packed `HeartbeatRecord`; it expires a day after the last |

They are on the server of the queue, because a sign of life needs no disk: there a heartbeat is neither a write of the
append-only file nor a sync. Its time is that of the Redis of the matches, which a process asks each time.

A process writes its field every few seconds and removes it when it ends normally. So a silent process
was killed, hangs, or can't reach one of the two servers.
"""

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from threading import Event, Lock, Thread
from typing import Any, Final

import msgspec
import redis
from msgspec.structs import replace
from redis.exceptions import RedisError

from infra.redis import keys
from infra.redis.clients import time_ms
from infra.valkey.process import is_alive
from infra.valkey.server import NotRunningError

logger = logging.getLogger(__name__)

EVERY_SECONDS: Final = 14.0
"""Between two, so that a process counts as silent when it has missed two."""

SILENT_MS: Final = 30_000
"""Age of a heartbeat after which its process counts as silent."""

_RARELY: Final = 4
"""With each of so many heartbeats the expiry is set, and lost secrets are looked for."""

FORGOTTEN_SECONDS: Final = 24 * 3600
"""How long a silent process is remembered."""

_JOIN_SECONDS: Final = 1.0


class Role(StrEnum):
    """Role of a process."""

    WORKER = "worker"
    """Decides commands."""
    PROJECTIONS = "side"
    """Updates lists, notices and ratings."""
    SCHEDULER = "scheduler"
    """Sends reminders, lets flags fall, and repeats lost wake-ups."""
    PUBLISHER = "publisher"
    """Publishes the logs."""
    MAINTENANCE = "maintenance"
    """Rebuilds, checks and retires."""
    ROBOTS = "robots"
    """Moves for robots, and analyses matches."""
    WEB = "web"
    """Serves HTTP."""
    MAIL = "mail"
    """Receives mail."""
    MAILER = "mailer"
    """Sends mail."""


class HeartbeatRecord(msgspec.Struct, frozen=True, array_like=True):
    """A process's last heartbeat."""

    role: Role
    host: str
    pid: int
    version: str
    started: int = 0
    """When the process began, in ms by the server's clock."""
    at: int = 0
    """When this was written, in ms by the server's clock."""
    mail_key: str = ""
    """Fingerprint of its mail key; empty if it has none."""
    lost_shards: tuple[int, ...] = ()
    """The shards for which it lacks the secret of the chain of seeds."""

    @property
    def field(self) -> str:
        """Return its field of the hash."""
        return f"{self.role}/{self.host}/{self.pid}"

    def is_silent(self, now: int) -> bool:
        """Return whether it is too old at a time, in ms by the server's clock."""
        # one from the future was written while a clock ran ahead
        return abs(now - self.at) > SILENT_MS

    @property
    def is_gone(self) -> bool:
        """Return whether its process ran on this machine and has ended."""
        return self.host == socket.gethostname() and not is_alive(self.pid)


_ENCODER: Final = msgspec.msgpack.Encoder()
_RECORDS: Final = msgspec.msgpack.Decoder(HeartbeatRecord)


def read_heartbeats(queue: redis.Redis) -> list[HeartbeatRecord]:
    """Return the heartbeats of all processes that did not end normally."""
    found: Any = queue.hvals(keys.HEARTBEATS)
    return [_RECORDS.decode(data) for data in found]


def forget_ended(queue: redis.Redis) -> None:
    """Forget the processes of this machine that were cut off."""
    if ended := [beat.field for beat in read_heartbeats(queue) if beat.is_gone]:
        queue.hdel(keys.HEARTBEATS, *ended)


def lost_by_all(workers: Sequence[HeartbeatRecord]) -> list[int]:
    """Return the shards for which none of the workers has the secret; none without workers."""
    lost = [set(worker.lost_shards) for worker in workers]
    return sorted(set.intersection(*lost)) if lost else []


class Heartbeat:
    """Writes one process's heartbeats. `lost` is called for each: see `HeartbeatRecord`."""

    def __init__(
        self,
        role: Role,
        version: str,
        *,
        mail_key: str = "",
        lost: Callable[[], Sequence[int]] = tuple,
    ) -> None:
        self._beat = HeartbeatRecord(
            role, socket.gethostname(), os.getpid(), version, mail_key=mail_key
        )
        self._lost_shards = lost
        self._written = 0

    def write(self, data: redis.Redis, queue: redis.Redis) -> None:
        """Write a heartbeat. The first removes those of processes that this one replaces."""
        write_together([self], data, queue)

    def add(self, pipe: Any, queue: redis.Redis, now: int) -> None:
        """Add the next heartbeat to a pipeline to the queue's server; `now` is in ms by the other server's clock."""
        if not self._beat.started:
            self._beat = replace(self._beat, started=now)
            self._forget_others(queue, now)
        rare = self._written % _RARELY == 0
        lost = tuple(self._lost_shards()) if rare else self._beat.lost_shards
        self._beat = replace(self._beat, at=now, lost_shards=lost)
        pipe.hset(keys.HEARTBEATS, self._beat.field, _ENCODER.encode(self._beat))
        if rare:
            pipe.expire(keys.HEARTBEATS, FORGOTTEN_SECONDS)
        self._written += 1

    def _forget_others(self, queue: redis.Redis, now: int) -> None:
        gone = [
            other.field
            for other in read_heartbeats(queue)
            if now - other.at > FORGOTTEN_SECONDS * 1000
            or (other.role == self._beat.role and other.is_gone)
        ]
        if gone:
            queue.hdel(keys.HEARTBEATS, *gone)

    def remove(self, queue: redis.Redis) -> None:
        """Remove the heartbeat: the process ends normally."""
        queue.hdel(keys.HEARTBEATS, self._beat.field)


def write_together(beats: Sequence[Heartbeat], data: redis.Redis, queue: redis.Redis) -> None:
    """Write heartbeats of one process, each of another role, in one round trip to each server."""
    now = time_ms(data)
    with queue.pipeline(transaction=False) as pipe:
        for beat in beats:
            beat.add(pipe, queue, now)
        pipe.execute()


class HeartbeatThread:
    """Writes heartbeats of this process from a thread of its own, while there are any; those of several roles together.

    Each of `connect` returns a client, of the server of the matches and of the queue's, and is called again when a
    server was lost.
    """

    def __init__(
        self, connect: tuple[Callable[[], redis.Redis], Callable[[], redis.Redis]]
    ) -> None:
        self._connect_data, self._connect_queue = connect
        self._lock = Lock()
        self._beats: dict[Heartbeat, Event] = {}
        """The heartbeats that go on, each with an event that is set by its first write."""
        self._ended: list[Heartbeat] = []
        """The heartbeats whose notes a writer has yet to remove."""
        self._changed = Event()
        self._thread: Thread | None = None

    @contextmanager
    def beating(self, heartbeat: Heartbeat) -> Iterator[None]:
        """Write a heartbeat while entered, and remove it afterwards."""
        begun = Event()
        with self._lock:
            self._beats[heartbeat] = begun
            if self._thread is None:
                self._thread = Thread(target=self._run, name="heartbeat", daemon=True)
                self._thread.start()
            thread = self._thread
        self._changed.set()
        begun.wait(_JOIN_SECONDS)  # so that the doctor knows of the process when it serves
        try:
            yield
        finally:
            with self._lock:
                del self._beats[heartbeat]
                self._ended.append(heartbeat)
                is_last = not self._beats
            self._changed.set()
            if is_last:
                thread.join(_JOIN_SECONDS)

    def _run(self) -> None:
        while True:
            # the process is silent then, which the doctor shows
            with (
                suppress(RedisError, OSError, LookupError, NotRunningError),
                self._connect_data() as data,
                self._connect_queue() as queue,
            ):
                while self._write(data, queue):
                    self._changed.wait(EVERY_SECONDS)
            with self._lock:
                if not self._beats:
                    self._ended, self._thread = [], None
                    return
            self._changed.wait(EVERY_SECONDS)

    def _write(self, data: redis.Redis, queue: redis.Redis) -> bool:
        """Write and remove what is to be; return whether something is to be written later."""
        self._changed.clear()
        with self._lock:
            beats, ended = dict(self._beats), self._ended
            self._ended = []
        for heartbeat in ended:
            heartbeat.remove(queue)
        if beats:
            write_together(list(beats), data, queue)
        for begun in beats.values():
            begun.set()
        return bool(beats)
