"""Files by which a process shows other programs of its machine that it is alive, for `matchpost alive`.

Each process locks a file `alive/ROLE-HOST-PID` in its data directory, and sets the file's time while its
main thread makes progress. So a file that nobody locks is of a process that has ended, and one with an old
time of one that hangs. The time is monotonic, because a clock that is set must not make a process look hung.
"""

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from infra.liveness import SILENCE_SECONDS

FOLDER: Final = "alive"

_EVERY_SECONDS: Final = 5.0
"""How often the time is set: often enough, and next to no work for a disk."""


class AliveFile:
    """The file of this process; a listener to its liveness (`infra.liveness`)."""

    def __init__(self, data: Path, role: str) -> None:
        """Create the file in a data directory, and delete those of ended processes; `OSError` if that fails."""
        folder = data / FOLDER
        for one in (data, folder):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
        for _ in _living(folder, role, tidy=True):
            continue
        path = folder / f"{role}-{socket.gethostname()}-{os.getpid()}"
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        # unlike one by `flock`, this lock is not a child's, too
        fcntl.lockf(self._descriptor, fcntl.LOCK_EX)
        self._touched = 0.0
        self.beat()

    def beat(self) -> None:
        """Set the file's time, unless that was done a moment ago."""
        if time.monotonic() - self._touched >= _EVERY_SECONDS:
            self._touched = time.monotonic()
            os.utime(self._descriptor, ns=(time.monotonic_ns(),) * 2)

    def serving(self) -> None:
        """Note that the process does its work from now on."""
        os.write(self._descriptor, b"serving\n")
        self._touched = 0.0
        self.beat()


class LivingProcess(msgspec.Struct, frozen=True):
    """A process of this machine that has not ended."""

    name: str
    """Role, host and process id, such as `worker-vm-4712`."""
    silence: float
    """For how many seconds its main thread has made no progress that is known."""
    is_serving: bool
    """Whether it has begun its work."""

    @property
    def hangs(self) -> bool:
        """Return whether it has been silent for too long."""
        return self.silence > SILENCE_SECONDS


def living_processes(data: Path, role: str) -> list[LivingProcess]:
    """Return the processes of a role that run with a data directory on this machine."""
    host = f"{role}-{socket.gethostname()}-"
    return [one for one in _living(data / FOLDER, role) if one.name.startswith(host)]


def _living(folder: Path, role: str, *, tidy: bool = False) -> Iterator[LivingProcess]:
    """Yield the processes that run; with `tidy`, delete the files of those that ended a while ago."""
    for path in sorted(folder.glob(f"{role}-*")):
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
            if tidy and silence > SILENCE_SECONDS:
                path.unlink()
