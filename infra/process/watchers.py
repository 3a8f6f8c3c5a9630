"""Those that watch a process which `serve` has not started: the service manager, and `matchpost alive`.

Each is a listener to the process's liveness (`infra.process.liveness`).

A service manager such as systemd is reached by sd_notify(3). For `matchpost alive` a process locks a file
`alive/ROLE-HOST-PID` in its data directory, and sets the file's time at signs of life: nobody locks the file of a process
that has ended, and that of one that hangs has an old time. The time is monotonic, because a clock that is set must
not make a process look hung.
"""

import fcntl
import os
import socket
import time
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from infra.process.liveness import SERVING, Listener

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
