"""Processes that end with their parent, and the lock of a data directory.

A killed parent can't clean up, so the kernel does it: a child asks for a signal at its parent's death
(`prctl`, Linux only; elsewhere children may outlive a killed parent), and the lock is a flock on an
open file that the children share: it lasts until the last of them ends.
"""

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

_PR_SET_PDEATHSIG: Final = 1

_LOOK_SECONDS: Final = 0.005  # between two looks whether a child has ended

# found before any fork: between fork and exec a child must not import or allocate much
_PRCTL: Final = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None


class LockedError(Exception):
    """The data directory has another owner; the message is a sentence for the operator."""

    def __init__(self, directory: Path, owner: int | None) -> None:
        who = "another process" if owner is None else f"process {owner}"
        super().__init__(
            f"the data directory {directory} is in use by {who}; "
            "stop it first, or choose another directory with MATCHPOST_DATA"
        )
        self.directory = directory
        self.owner = owner


class DirectoryLock:
    """The lock on a data directory: an exclusive flock on its file `lock`.

    The lock belongs to the open file. A child that gets `descriptor` (with `pass_fds`) shares it:
    while any of them lives, no other process becomes the owner. The file has the first owner's process
    id. It stays when the lock is released, because a removed file could be locked by two.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int:
        """Return the open file, for a child's `pass_fds`. Raises ValueError if it is not locked."""
        if self._descriptor is None:
            raise ValueError(f"the lock on {self._directory} is not held")
        return self._descriptor

    @property
    def is_held(self) -> bool:
        """Return whether this object has the lock."""
        return self._descriptor is not None

    def acquire(self) -> None:
        """Take the lock at once, or raise LockedError. Safe to repeat."""
        if self.is_held:
            return
        descriptor = os.open(
            self._directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode=0o600
        )
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write_owner(descriptor)
        except BlockingIOError as error:
            owner = _read_owner(descriptor)
            os.close(descriptor)
            raise LockedError(self._directory, owner) from error
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def adopt(self, descriptor: int) -> None:
        """Take over the lock that the program before in this process has held, by its open file."""
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor

    def release(self) -> None:
        """Release the lock; children that share it keep it. Safe to repeat."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def owner_of(directory: Path) -> int | None:
    """Return the process id in the lock file of `directory`; None if there is none.

    The process may have ended: only `acquire` finds out whether there is a lock.
    """
    try:
        descriptor = os.open(directory / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _read_owner(descriptor)
    finally:
        os.close(descriptor)


def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
    output: IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a child that is killed when this process ends for any reason.

    The child has its own process group, so a Ctrl-C at the terminal reaches only the parent, which
    ends its children in order. `output` is its standard output and error; None for those of this
    process. Raises OSError if the program can't be started, and RuntimeError outside the main thread,
    because the kernel sends the signal when the *thread* that started the child ends.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a child is started from the main thread: it would end with another")
    parent = os.getpid()
    return subprocess.Popen(  # noqa: S603 - the programs are this package's
        argv,
        env=None if env is None else dict(env),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=pass_fds,
        process_group=0,
        preexec_fn=lambda: end_with_parent(parent),  # noqa: PLW1509 - no threads here
    )


class ChildById:
    """A child of this process by its id; it has the methods of `subprocess.Popen` that are needed here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return None while it runs, otherwise its return code (negative for a signal)."""
        if self._code is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def terminate(self) -> None:
        """Send SIGTERM, unless it has ended."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL, unless it has ended."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float = float("inf")) -> int:
        """Return its code once it has ended; `subprocess.TimeoutExpired` after so many seconds."""
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(_LOOK_SECONDS)
        return code


def end_with_parent(parent: int) -> None:
    """Make the kernel kill this process when its parent, `parent`, ends.

    If the parent has ended already, this process ends at once. On systems without such a signal
    nothing happens.
    """
    if _PRCTL is None:
        return
    if _PRCTL(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # crash window: for a parent that died before the call above no signal is sent
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def describe_exit(code: int) -> str:
    """Return how a process ended, by a return code of `Popen`: negative for a signal."""
    if code >= 0:
        return f"exited with {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def is_alive(pid: int) -> bool:
    """Return whether a process with this id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _write_owner(descriptor: int) -> None:
    """Write this process's id into the lock file."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)


def _read_owner(descriptor: int) -> int | None:
    """Return the process id in the lock file; None while its owner is still writing it."""
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdecimal() else None
