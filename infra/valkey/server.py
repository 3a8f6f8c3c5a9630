"""The embedded server: a private Valkey in the data directory, owned by one process.

Guarantees: at most one server works on a data directory (the server inherits the lock); it is reached
by a unix socket only, in a directory for this user only; with `durable` every write is on the disk
before it is answered; the server ends with the process that started it, also when that is killed. A
killed server can be started again by the same owner, at the same address, with every write it had
answered; so can one whose log a power loss has torn at its end (`infra.valkey.aof`).

`infra.valkey.directory` lists its files.

The server of the queue: RQ, leases and the messages between processes, without a file.

What it holds is lost when it ends, which costs seconds and never a move: commands wait in the inboxes
of the data's server, and the scheduler repeats wake-ups. So nothing here waits for a disk. A server
that is started again is empty.

Without MATCHPOST_REDIS_URL it is a second embedded server, in the folder `queue` of the data directory.
"""

import logging
import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

import msgspec
from redis import Redis

from infra.redis.addresses import unix_url
from infra.redis.clients import make_client
from infra.settings.settings import Settings
from infra.valkey.aof import DamagedError, SyncMark, newest_log, repair_tail
from infra.valkey.binary import BinaryError, ServerBinary, find_binary
from infra.valkey.directory import DataDirectory, DirectoryError, ask, is_listening, send
from infra.valkey.disk_guard import free_bytes, release
from infra.valkey.process import (
    ChildById,
    DirectoryLock,
    LockedError,
    describe_exit,
    is_alive,
    spawn,
)

logger = logging.getLogger(__name__)

STOP_DEADLINE: Final = 10.0
"""Seconds the server may take to end by itself."""

# the server's message while it reads its log
_UNKNOWN_COMMAND: Final = re.compile(r"unknown command '([^']+)'", re.IGNORECASE)

_SILENCE_LIMIT: Final = 60.0  # seconds without any answer, not even "loading"
_ORPHAN_LIMIT: Final = 30.0  # seconds to wait for the children of a killed owner's server
_LEAST_ROOM: Final = 4 << 20  # bytes; with less, the server would end soon after its start
_MARK_EVERY: Final = 5.0  # seconds; a mark is one more sync of the disk
_NOTICE_EVERY: Final = 5.0  # seconds between lines that say the server is still loading

_SETTINGS: Final[Mapping[str, str]] = {
    "port": "0",
    "unixsocketperm": "700",
    "daemonize": "no",
    # SIGTERM is final: otherwise it is refused while a first log is being written
    "shutdown-on-sigterm": "force",
    "save": "",  # the log is the only copy on disk; snapshots would fork for nothing
    "appendonly": "yes",
    "aof-use-rdb-preamble": "yes",
    # to the server a damaged length looks like a torn end, and it would cut off all that follows
    "aof-load-truncated": "no",
    # a rewrite starts when the log is twice as long as after the last, and never below 64 MB
    "auto-aof-rewrite-percentage": "100",
    "auto-aof-rewrite-min-size": "64mb",
    # `yes` would answer writes unsynced as long as a rewrite runs
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
    # the outcomes of a usual match are one compact block; in more of them than this each commit would
    # search for longer than it takes for all the rest
    "hash-max-listpack-entries": "128",
    "hash-max-listpack-value": "128",
    # 8 KB a node: the events of a usual match are one block, and appending copies little
    "list-max-listpack-size": "-2",
    "stream-node-max-bytes": "4096",
    "stream-node-max-entries": "100",
    "latency-monitor-threshold": "100",  # milliseconds; LATENCY shows slower events
    # turns of its own a second, the fewest: only the end of a long timeout waits for one
    "hz": "1",
}


class EmbeddedError(Exception):
    """The embedded server could not be started; the message is a sentence for the operator."""


class NotRunningError(EmbeddedError):
    """No embedded server answers for the data directory."""


class HandedServer(msgspec.Struct, frozen=True):
    """A running server, as this process leaves it to the program that replaces it; see `services.serve.handover`."""

    pid: int
    lock: int
    """The open file of the lock."""
    socket: str


class EmbeddedServer:
    """An embedded server on the data directory `data`; also a context manager.

    `durable` chooses the sync of the append-only file. With it, `always`. Without, `no`: every
    write still reaches the kernel before it is answered, so a killed process loses nothing, but
    a crash of the machine may lose about the last half minute. (`everysec` would bound that to
    two seconds, but stalls writes on a slow disk, and users without durability want neither.)

    `name` is its name in the log. `options` override our settings of the server, and without
    `appendonly` it keeps nothing. `env` is added to its environment, and `binary` replaces the program
    that is found: for tests and benchmarks.
    `maxmemory` is the most bytes that its data may take, 0 for no limit: beyond it writes are refused.
    """

    is_awaited = False  # once it is started it serves

    def __init__(
        self,
        data: Path,
        *,
        name: str = "valkey",
        durable: bool = True,
        maxmemory: int = 0,
        options: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
        binary: Path | None = None,
    ) -> None:
        self.name = name
        self.data = data.absolute()
        self._directory = DataDirectory(self.data)
        self._settings = {
            **_SETTINGS,
            "appendfsync": "always" if durable else "no",
            "maxmemory": str(maxmemory),
            **(options or {}),
        }
        self._env = {**os.environ, **(env or {})}
        self._chosen_binary = binary
        self._mark = SyncMark(self._directory.synced)
        self._mark_due = 0.0  # by the monotonic clock
        self._durable = self._settings["appendfsync"] == "always"
        self._lock = DirectoryLock(self.data)
        self._socket: Path | None = None
        self._process: subprocess.Popen[bytes] | ChildById | None = None
        self._binary: ServerBinary | None = None
        self._load_seconds = 0.0

    @property
    def url(self) -> str:
        """Return the `unix://` URL of the server; the same after each restart.

        Raises EmbeddedError before the first start, which chooses the socket.
        """
        if self._socket is None:
            raise EmbeddedError(f"the server for {self.data} was not started yet")
        return unix_url(str(self._socket))

    def hand_over(self) -> HandedServer | None:
        """Return what the program that replaces this process needs of the server; None if it does not run."""
        if self._process is None or self._socket is None or self._process.poll() is not None:
            return None
        return HandedServer(self._process.pid, self._lock.descriptor, str(self._socket))

    def adopt(self, handed: HandedServer) -> None:
        """Take over the server that the program before has left; `start` then starts it only if it has ended."""
        self._lock.adopt(handed.lock)
        self._process = ChildById(handed.pid)
        self._socket = Path(handed.socket)

    @property
    def pid(self) -> int | None:
        """Return the server's process id; None before a start and after a stop."""
        return None if self._process is None else self._process.pid

    @property
    def load_seconds(self) -> float:
        """Return the seconds from the last start until the server had loaded and answered."""
        return self._load_seconds

    @property
    def version(self) -> str:
        """Return the server's name and version, such as `Valkey 9.1.2`; empty before a start."""
        return "" if self._binary is None else f"{self._binary.name} {self._binary.version}"

    def start(self) -> None:
        """Start the server and wait until it has loaded its data and answers.

        Does nothing if it runs. Loading has no deadline; silence has one of 60 s. Raises
        EmbeddedError if it can't be started: the directory has another owner or is not usable,
        there is no program, or the server ended (the sentence then has the end of its log).
        """
        if self._process is not None and self._process.poll() is None:
            return
        first = not self._lock.is_held
        try:
            self._directory.prepare()
            self._check_room()
            self._acquire_lock()
            self._launch_repaired()
        except BaseException as error:
            self._kill_and_reap()
            if first:  # after a first start that failed there is no owner
                self._release_directory()
            if isinstance(error, LockedError | BinaryError | DirectoryError | DamagedError):
                raise EmbeddedError(str(error)) from error
            raise

    def client(self, *, blocking_timeout: float = 0.0) -> Redis:
        """Return a new client of the server, as `make_client` does. The caller closes it."""
        return make_client(self.url, blocking_timeout=blocking_timeout)

    def poll(self) -> int | None:
        """Return None while the server runs, otherwise its return code (negative for a signal)."""
        return 0 if self._process is None else self._process.poll()

    @property
    def is_silent(self) -> bool:
        """Return False, because a server may load for long, and its disk may be slow."""
        return False

    def terminate(self) -> None:
        """Ask the server to end; it syncs its log first. Returns at once."""
        if self._process is not None:
            if self._socket is not None:
                # it looks for signals only in its next turn; the signal is for one that takes no command now
                send(self._socket, b"SHUTDOWN FORCE\r\n")
            self._process.terminate()

    def kill(self) -> None:
        """End the server with SIGKILL. Returns at once; nothing it answered is lost."""
        if self._process is not None:
            self._process.kill()

    def stop(self, deadline: float = STOP_DEADLINE) -> None:
        """End the server, with SIGKILL after `deadline` seconds, and release the directory."""
        if self._process is not None:
            self.terminate()
            try:
                self._process.wait(deadline)
            except subprocess.TimeoutExpired:
                logger.warning("the server did not end within %g s and is killed", deadline)
            self._kill_and_reap()
        self._release_directory()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _check_room(self) -> None:
        """Raise EmbeddedError if the disk is full: a server ends at the first write it can't sync.

        Its own log is on the same disk, so it could not say why. One that keeps nothing needs no room. The
        reserve is used first.
        """
        if self._settings["appendonly"] == "no":
            return
        if free_bytes(self.data) < _LEAST_ROOM:
            release(self._directory.reserve)
        if (free := free_bytes(self.data)) < _LEAST_ROOM:
            raise EmbeddedError(
                f"the disk of the data directory {self.data} is full ({free >> 10} KiB free); "
                f"make room, at least {_LEAST_ROOM >> 20} MiB; nothing accepted is lost"
            )

    def _acquire_lock(self) -> None:
        """Take the lock; wait for it only if its owner is dead.

        Crash window: if owner and server are killed during a rewrite of the log, the server's
        rewriting child has the lock until it has finished, some seconds later.
        """
        deadline = time.monotonic() + _ORPHAN_LIMIT
        while True:
            try:
                self._lock.acquire()
            except LockedError as error:
                alive = error.owner is None or is_alive(error.owner)
                if alive or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def _launch_repaired(self) -> None:
        """Launch; if the server refuses its log, cut off a torn end and launch once more."""
        known = self._synced_size()
        try:
            self._launch()
        except EmbeddedError as error:
            # a server that ended by a signal has not refused its log
            if self._process is None or (self._process.poll() or 0) <= 0:
                raise
            unknown = _UNKNOWN_COMMAND.search(str(error))
            mended = repair_tail(
                self._directory.files, known, unknown[1].encode("latin-1") if unknown else b""
            )
            if mended is None:
                raise
            logger.warning("the server's log was torn at its end: %s", mended)
            self._launch()

    def _synced_size(self) -> int:
        """Return how much of the log is known to be synced; log an alarm if it is shorter."""
        log = newest_log(self._directory.files)
        if log is None or not log.exists():
            return 0
        known, size = self._mark.read(log), log.stat().st_size
        if size < known:
            logger.error(
                "ALARM: %s has %d bytes, and %d of it had been synced: it was put back in time, or cut "
                "off; moves that were acknowledged are gone",
                *(log, size, known),
            )
            self._mark.write(log, size)
        return known

    def note_synced(self) -> None:
        """Note how much of the log is synced, for the next start; for `durable` servers only.

        A server with `appendfsync always` has synced its earlier writes before it answers a command.
        """
        now = time.monotonic()
        if not self._durable or self._socket is None or now < self._mark_due:
            return
        self._mark_due = now + _MARK_EVERY
        log = newest_log(self._directory.files)
        if log is None or not log.exists() or (size := log.stat().st_size) == self._mark.read(log):
            return
        # the server's setting may have been changed since it was started
        if b"always" in ask(self._socket, b"CONFIG GET appendfsync\r\n"):
            self._mark.write(log, size)

    def _launch(self) -> None:
        """Start the process, wait for it, and note how long it took."""
        self._binary = self._binary or find_binary(self._chosen_binary)
        place = self._socket = self._socket or self._directory.choose_socket()
        begun = time.monotonic()
        with self._directory.open_log() as log:
            start_of_log = log.tell()
            self._process = process = spawn(
                [str(self._binary.path), *self._arguments(place)],
                env=self._env,
                pass_fds=(self._lock.descriptor,),
                output=log,
            )
        _wait_until_ready(process, place, self._directory, start_of_log)
        self._load_seconds = time.monotonic() - begun
        logger.info("%s (%s) is ready after %.2f s", self.name, self.version, self._load_seconds)

    def _arguments(self, place: Path) -> list[str]:
        """Return the server's settings as arguments."""
        places = {
            "unixsocket": str(place),
            "dir": str(self._directory.files),
            "logfile": str(self._directory.log),
        }
        settings = {**places, **self._settings}
        return [part for key, value in settings.items() for part in (f"--{key}", value)]

    def _release_directory(self) -> None:
        """Remove the socket and release the lock, if this process holds it."""
        if self._lock.is_held:
            self._directory.remove_socket()
            self._lock.release()
        self._socket = None

    def _kill_and_reap(self) -> None:
        """Kill the process and wait for its end."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def socket_url(data: Path) -> str:
    """Return the URL of the server that runs on the data directory `data`, for other processes.

    Raises NotRunningError if none answers there.
    """
    place = DataDirectory(data.absolute()).known_socket()
    if not is_listening(place):
        raise NotRunningError(
            f"no server is running for {data}; start it with `matchpost serve`, or read "
            "in its log why it does not answer"
        )
    return unix_url(str(place))


def is_embedded(settings: Settings) -> bool:
    """Return whether the data are on the embedded server, also in a process of `serve`, which is given its URL."""
    own = unix_url(str(DataDirectory(settings.data.absolute()).known_socket()))
    return settings.redis_url in (None, own)


def _wait_until_ready(
    process: subprocess.Popen[bytes], place: Path, directory: DataDirectory, start_of_log: int
) -> None:
    """Wait until the server answers PING with PONG, without a limit while it loads.

    Raises EmbeddedError, with the end of the log, if it ends or stays silent.
    """
    heard = noted = time.monotonic()
    pause = 0.002
    while (answer := _ping(place)) != "ready":
        if (code := process.poll()) is not None:
            reason = f"the embedded server {describe_exit(code)} while it started"
            raise EmbeddedError(f"{reason}: {directory.log_tail(start_of_log)}")
        now = time.monotonic()
        if answer == "loading":
            heard = now
        if now - heard > _SILENCE_LIMIT:
            reason = f"the embedded server did not answer within {_SILENCE_LIMIT:g} s"
            raise EmbeddedError(f"{reason}: {directory.log_tail(start_of_log)}")
        if now - noted > _NOTICE_EVERY:
            noted = now
            logger.info("the server is still loading its data")
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _ping(place: Path) -> str:
    """Return the state of the server: `ready`, `loading`, or `` if it does not answer."""
    answer = ask(place, b"PING\r\n")
    return "" if not answer else "ready" if answer.startswith(b"+PONG") else "loading"


FOLDER: Final = "queue"
"""Its folder in the data directory, with its socket, its lock and its log."""

NAME: Final = "queue"
"""Its name in the log of `serve`."""

_QUEUE_SETTINGS: Final[Mapping[str, str]] = {
    "appendonly": "no",
    # jobs and leases take some kilobytes; most of this is for messages to slow readers
    "maxmemory": "128mb",
    # a job or a lease that is dropped is repeated, and a refused write would stop all drains
    "maxmemory-policy": "allkeys-lru",
}


def queue_server(data: Path) -> EmbeddedServer:
    """Return the embedded server of the queue, not started; `data` is the data directory."""
    return EmbeddedServer(data / FOLDER, name=NAME, durable=False, options=_QUEUE_SETTINGS)


def queue_url(settings: Settings) -> str:
    """Return the URL of the server of the queue; it need not run, as while it is started again."""
    return settings.queue_url or settings.redis_url or _embedded_url(settings.data)


def _embedded_url(data: Path) -> str:
    return unix_url(str(DataDirectory(data / FOLDER).known_socket()))
