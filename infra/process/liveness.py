"""Liveness of child processes: a child writes a byte, at most one in four seconds, once its main thread made progress.

Progress is a reply of a server, another decision, or a turn of the event loop; waiting for a server counts as
progress, because that has its own limit (`infra.redis.clients`): so a slow or stopped server makes no process that
waits for it look hung. Another thread writes, so a process that is stopped, or whose interpreter is blocked, falls
silent at once.

The parent counts the silence by the time in which the child could have run. A busy machine makes nobody look hung:
of a child that is ready to run only the processor time that it got counts. Nor does a parent that stood still.

Those that watch a process which `serve` has not started: the service manager, and `matchpost alive`.

Each is a listener to the process's liveness.

A service manager such as systemd is reached by sd_notify(3). For `matchpost alive` a process locks a file
`alive/ROLE-HOST-PID` in its data directory, and sets the file's time at signs of life: nobody locks the file of a process
that has ended, and that of one that hangs has an old time. The time is monotonic, because a clock that is set must
not make a process look hung.
"""

import asyncio
import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from redis._parsers import _HiredisParser

BEAT, SERVING = b".", b"!"
"""Signs: of progress, and that the process does its work from now on."""

Listener: TypeAlias = Callable[[bytes], object]
"""Takes a sign; what `OSError` it raises is its own affair."""

VARIABLE: Final = "MATCHPOST_LIVENESS_FD"
"""Environment variable with the descriptor for the bytes; not a setting."""

BEAT_SECONDS: Final = 4.0
"""Between two signs, and between two looks for them."""

SILENCE_SECONDS: Final = 19.0
"""How long a process that could run may make no progress before it counts as hung, after two looks without a sign."""

START_SECONDS: Final = 120.0
"""The same for a process that was just started, until its first progress."""

_COUNTED_SECONDS: Final = BEAT_SECONDS
"""The most that counts of the time between two looks of the parent."""


class ThreadLiveness:
    """Progress of a thread that is watched, and those who listen to its signs."""

    def __init__(self, *listeners: Listener) -> None:
        self.steps = 0
        self.waits = 0
        self.is_serving = False
        """Whether it has given the sign that it does its work."""
        self._listeners = listeners
        self._seen = 0  # steps when it was last asked

    def goes_on(self) -> bool:
        """Return whether it waits for a server, or has made progress since the last call."""
        before, self._seen = self._seen, self.steps
        return self.waits > 0 or self._seen != before

    def listen(self, *listeners: Listener) -> None:
        """Send the signs to these from now on."""
        self._listeners = listeners

    def send(self, sign: bytes) -> None:
        """Send a sign to those who listen."""
        for listener in self._listeners:
            # a full pipe has signs enough
            with suppress(OSError):
                listener(sign)


class LivenessMonitor:
    """Progress of the main thread of this process, and of its other threads that are watched (`infra.process.role_thread`).

    The process goes on while each of them does.
    """

    def __init__(self) -> None:
        self._main = ThreadLiveness()
        self._threads: dict[int, ThreadLiveness] = {}
        """Liveness of the watched threads, by thread; empty if no parent watches."""
        self._went_on = set[ThreadLiveness]()
        """Those that went on since the last sign of the process."""

    def goes_on(self) -> bool:
        """Return whether the main thread waits for a server, or has made progress since the last call."""
        return self._main.goes_on()

    def step(self) -> None:
        """Note progress of this thread; one that is not watched counts as the main one."""
        self._this.steps += 1

    @property
    def _this(self) -> ThreadLiveness:
        return self._threads.get(threading.get_ident(), self._main)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Mark that this thread waits for another process; ignored in threads that are not watched."""
        watched = self._threads.get(threading.get_ident())
        if watched is None:
            yield
            return
        watched.waits += 1
        try:
            yield
        finally:
            watched.waits -= 1
            watched.steps += 1

    async def watch_loop(self) -> None:
        """Note progress again and again while the event loop turns; never returns."""
        while True:
            self.step()
            await asyncio.sleep(BEAT_SECONDS)

    def watch(self, *listeners: Listener) -> None:
        """Start to send signs to these, and to the parent if it listens; call it in the main thread."""
        if (written := os.environ.pop(VARIABLE, None)) is not None:
            descriptor = int(written)
            os.set_inheritable(descriptor, False)
            os.set_blocking(descriptor, False)
            listeners = (*listeners, partial(os.write, descriptor))
        self._main.listen(*listeners)
        self._threads[threading.get_ident()] = self._main
        self.step()
        threading.Thread(target=self._write_beats, daemon=True, name="heart").start()

    @contextmanager
    def also_watching(self, liveness: ThreadLiveness) -> Iterator[None]:
        """Watch this thread, too, while entered: the process sends no sign if this thread makes no progress."""
        self._threads[threading.get_ident()] = liveness
        self.step()
        try:
            yield
        finally:
            del self._threads[threading.get_ident()]

    def forget(self) -> None:
        """Forget all in a process that was forked from one which is watched: nobody watches it yet."""
        self._main, self._threads, self._went_on = ThreadLiveness(), {}, set()

    def serving(self) -> None:
        """Report that this thread does its work from now on; only the first call does anything."""
        if not (this := self._this).is_serving:
            this.is_serving = True
            this.send(SERVING)

    def beat(self) -> None:
        """Send a sign of each watched thread that goes on, and of the process once all went on since its last sign.

        Not only if all do at once: each looks for work in its own rhythm, every few seconds.
        """
        watched = [
            self._main,
            *(one for one in list(self._threads.values()) if one is not self._main),
        ]
        # each is asked, because it also tells those who listen to it alone
        for one in watched:
            if one.goes_on():
                self._went_on.add(one)
                if one is not self._main:
                    one.send(BEAT)
        if self._went_on.issuperset(watched):
            self._went_on.clear()
            self._main.send(BEAT)

    def _write_beats(self) -> None:
        while True:
            self.beat()
            time.sleep(BEAT_SECONDS)


LIVENESS: Final = LivenessMonitor()
"""This process's."""


class WatchedParser(_HiredisParser):
    """Reads replies of a server, and counts the time that it waits for one as liveness."""

    def read_from_socket(self, *args: Any, **options: Any) -> Any:
        """Wait for more of a reply."""
        with LIVENESS.waiting():
            return super().read_from_socket(*args, **options)  # type: ignore[no-untyped-call]


class LivenessPipe:
    """The parent's end of a child's liveness."""

    def __init__(self) -> None:
        self._reader, self.descriptor = os.pipe()
        """The end that the other process writes to."""
        os.set_blocking(self._reader, False)
        self._seen = False
        self._silent = 0.0
        self._looked_at = time.monotonic()
        self._used: float | None = 0.0
        """Seconds of the processor until then; None if it was heard then, and nothing else was looked at."""
        self._is_missed = False
        """Whether it has given no sign at one look since it was heard, which counts for nothing."""
        self.is_serving = False
        """Whether the process has given the sign that it does its work, as of the last look at its silence."""

    def child_started(self) -> None:
        """Close the child's end here, after the child was started with it."""
        os.close(self.descriptor)

    def is_silent(self, pid: int) -> bool:
        """Return whether that process could run for too long without a sign; one that starts may take longer."""
        now = time.monotonic()
        passed, self._looked_at = min(now - self._looked_at, _COUNTED_SECONDS), now
        if self._read():
            self._silent, self._seen, self._used, self._is_missed = 0.0, True, None, False
            return False
        if self._used is None and not self._is_missed:
            # its sign may come a moment later; a look at all of its threads costs more than anything else here
            self._is_missed = True
            return False
        is_ready, used = _processor_use(pid)
        # a child that was heard at the last look had at most the time since then
        before, self._used = self._used, used
        ran = passed if before is None else used - before
        self._silent += min(passed, ran) if is_ready else passed
        return self._silent > (SILENCE_SECONDS if self._seen else START_SECONDS)

    def _read(self) -> bool:
        try:
            signs = os.read(self._reader, 65_536)
        except BlockingIOError:
            return False
        self.is_serving |= SERVING in signs
        return bool(signs)

    def close(self) -> None:
        """Stop listening."""
        os.close(self._reader)


def _processor_use(pid: int) -> tuple[bool, float]:
    """Return whether a thread of a process is running or ready to run, and how many seconds it ran; Linux only.

    Any thread counts: the main one may wait for the interpreter's lock while its holder gets no processor.
    """
    try:
        fields = _stat_fields(Path(f"/proc/{pid}/stat"))
        states = [_stat_fields(one)[0] for one in Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:
        return False, 0.0
    return "R" in states, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _stat_fields(path: Path) -> list[str]:
    """Return the fields after the name of the program."""
    return path.read_text("ascii", "replace").rpartition(")")[2].split()


FOLDER: Final = "alive"

HANGS_SECONDS: Final = 60.0
"""How long a process may give no sign before it counts as hung; the unit files have the same."""

_EVERY_SECONDS: Final = 5.0
"""How often the time is set: often enough, and next to no work for a disk."""


def service_manager(environ: MutableMapping[str, str] = os.environ) -> Listener:
    """Return the listener that reports to a service manager; it does nothing where none has started this process.

    The variables leave the environment, because children must not report in place of this process.
    """
    address = environ.pop("NOTIFY_SOCKET", "").replace("@", "\0", 1)
    own = environ.pop("WATCHDOG_PID", "") in ("", str(os.getpid()))
    watches = bool(environ.pop("WATCHDOG_USEC", "")) and own

    def report(sign: bytes) -> None:
        if address and (watches or sign == SERVING):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.sendto(b"READY=1" if sign == SERVING else b"WATCHDOG=1", address)

    return report


def alive_file(data: Path, role: str) -> Listener:
    """Create this process's file in a data directory, and return the listener that sets its time.

    `OSError` if that fails. Files of the role's ended processes are deleted.
    """
    folder = data / FOLDER
    for one in (data, folder):
        one.mkdir(mode=0o700, parents=True, exist_ok=True)
    list(_living(folder, role, tidy=True))
    path = folder / f"{role}-{socket.gethostname()}-{os.getpid()}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    # unlike one by `flock`, this lock is not a child's, too
    fcntl.lockf(descriptor, fcntl.LOCK_EX)
    due = 0.0

    def touch(sign: bytes) -> None:
        nonlocal due
        if sign == SERVING:
            os.write(descriptor, sign)
        if sign == SERVING or time.monotonic() >= due:
            due = time.monotonic() + _EVERY_SECONDS
            os.utime(descriptor, ns=(time.monotonic_ns(),) * 2)

    touch(b"")
    return touch


class LivingProcess(NamedTuple):
    """A process that has not ended: a name such as `worker-vm-4712`, and seconds since its last sign of life."""

    name: str
    silence: float
    is_serving: bool


def living_processes(data: Path, role: str) -> list[LivingProcess]:
    """Return the processes of a role that run with a data directory on this machine."""
    return list(_living(data / FOLDER, f"{role}-{socket.gethostname()}"))


def _living(folder: Path, begins: str, *, tidy: bool = False) -> Iterator[LivingProcess]:
    """Yield the processes that run; with `tidy`, delete the files of those that ended a while ago."""
    for path in sorted(folder.glob(f"{begins}-*")):
        # another process may tidy, too
        with suppress(FileNotFoundError), path.open("rb+") as file:
            state = os.fstat(file.fileno())
            silence = time.monotonic() - state.st_mtime
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield LivingProcess(path.name, silence, bool(state.st_size))
                continue
            # a file that was just created, and is not locked yet, has the time of day
            if tidy and silence > HANGS_SECONDS:
                path.unlink()
