"""The data directory of the embedded server; for one user only.

valkey/       the server's append-only files
valkey.synced how much of which of these files is known to be synced (`infra.valkey.aof.SyncMark`)
valkey.log    its log; `valkey.log.1` is the older one
valkey.sock   its socket
do.sock       on which a web process answers `matchpost do`, beside the one above
restoring     there while a backup is restored into it
moves         the times of the steps of `matchpost move-to`
backups/      what is known of the last backup, and a folder to try one in (`infra.backup.notes`)
reserve       removed when the disk is full (`infra.valkey.disk_guard`)
socket        path of its socket, if the path above is too long for one
lock          locked by the owner (`infra.valkey.process.DirectoryLock`)
queue/        the same for the server of the queue, which keeps nothing (`infra.valkey.server`)

Short talks with a server on its unix socket, without a client: none of them waits for longer than a second.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

_SECONDS: Final = 1.0


def is_listening(place: Path) -> bool:
    """Return whether a process accepts connections on the socket at `place`."""
    try:
        _connect(place, _SECONDS).close()
    except OSError:
        return False
    return True


def ask(place: Path, question: bytes) -> bytes:
    """Return the server's short answer; empty if there is none."""
    try:
        with _connect(place, _SECONDS) as probe:
            probe.sendall(question)
            return probe.recv(128)
    except OSError:
        return b""


def send(place: Path, command: bytes) -> None:
    """Send a command and wait for nothing; do nothing if the server takes none at this moment."""
    with suppress(OSError), _connect(place, 0.0) as probe:
        probe.sendall(command)


def _connect(place: Path, seconds: float) -> socket.socket:
    """Return a connection on which nothing blocks for longer; `OSError` if there is none in time."""
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        probe.settimeout(seconds)
        probe.connect(str(place))
    except OSError:
        probe.close()
        raise
    return probe


_SOCKET_LIMIT: Final = 100  # bytes; the kernels' own limits are 104 and 108, with an end mark
_LOG_LIMIT: Final = 8 << 20  # bytes; a longer log is put aside when the server starts
_MARKERS: Final = frozenset({"lock", "matchpost.toml"})  # one of these marks a data directory
_CONTENTS: Final = frozenset(
    {
        "valkey",
        "queue",
        "seeds",
        "keys",
        "log",
        "alive",
        "backups",
        "restoring",
        "moves",
        "mail-key",
        "mail-sent",
        "valkey.log",
        "valkey.log.1",
        "valkey.sock",
        "do.sock",
        "reserve",
        "socket",
    }
)
"""Other contents of a data directory; one with nothing else was restored from a backup."""

_PREFIX: Final = "matchpost-"  # of the temporary directories made for sockets


class DirectoryError(Exception):
    """The data directory can't be used; the message is a sentence for the operator."""


class DataDirectory:
    """A data directory, by its absolute path; it need not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = path / "valkey"
        self.log = path / "valkey.log"
        self.synced = path / "valkey.synced"
        self.reserve = path / "reserve"
        self.restoring = path / "restoring"
        self.moves = path / "moves"
        self._socket_note = path / "socket"

    def prepare(self) -> None:
        """Create the directory and its folders, for this user only (0700).

        An existing directory is made private if it is empty or already a data directory. Raises
        DirectoryError for one that others may enter and that has other contents, for one into which a
        backup was not restored to its end, and for one that can't be created or used.
        """
        if self.restoring.exists():
            raise DirectoryError(
                f"the restore of a backup into {self.path} was not finished: run the same "
                "`matchpost restore` again"
            )
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.path.stat().st_mode & 0o077:
                self._make_private()
            self.files.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise DirectoryError(
                f"the data directory {self.path} can't be used ({error.strerror}); "
                "choose another with MATCHPOST_DATA"
            ) from error

    def choose_socket(self) -> Path:
        """Return the path for the server's socket; the owner calls it before a first start.

        If the usual path is too long, the socket is in a new temporary directory (0700), and the path
        is stored for `known_socket`. Raises DirectoryError if none is short enough.
        """
        self.remove_socket()
        place = self.path / "valkey.sock"
        if len(os.fsencode(place)) <= _SOCKET_LIMIT:
            return place
        import tempfile  # noqa: PLC0415 - slow to import, for commands that only look for a socket

        for parent in (None, "/tmp"):  # noqa: S108 - mkdtemp makes a private directory in it
            directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            place = directory / "valkey.sock"
            if len(os.fsencode(place)) <= _SOCKET_LIMIT:
                self._socket_note.write_bytes(os.fsencode(place))
                return place
            directory.rmdir()
        raise DirectoryError(
            "no temporary directory has a path short enough for a socket; set TMPDIR to a short one"
        )

    def known_socket(self) -> Path:
        """Return the path of the socket of a server that runs."""
        try:
            return Path(os.fsdecode(self._socket_note.read_bytes()))
        except OSError:
            return self.path / "valkey.sock"

    @property
    def line_socket(self) -> Path:
        """The path of the socket on which lines of `matchpost do` are carried out, if a process does that."""
        return self.known_socket().with_name("do.sock")

    def remove_socket(self) -> None:
        """Remove the sockets of a server that has ended, and their temporary directory.

        A socket on which a server answers belongs to the directory that this one was copied from,
        and stays.
        """
        place = self.known_socket()
        if not is_listening(place):
            self.line_socket.unlink(missing_ok=True)
            place.unlink(missing_ok=True)
            if place.parent.name.startswith(_PREFIX):
                with suppress(OSError):  # removed already, or it has other contents
                    place.parent.rmdir()
        self._socket_note.unlink(missing_ok=True)

    def open_log(self) -> IO[bytes]:
        """Open the server's log for appending, positioned at its end."""
        if self.log.exists() and self.log.stat().st_size > _LOG_LIMIT:
            self.log.replace(self.path / "valkey.log.1")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        log = os.fdopen(os.open(self.log, flags, mode=0o600), "ab")
        log.seek(0, os.SEEK_END)
        return log

    def log_tail(self, start: int) -> str:
        """Return the last lines logged since the position `start` as one, and the path of the log."""
        with self.log.open("rb") as log:
            log.seek(start)
            lines = log.read().decode(errors="replace").splitlines()
        lines_logged = " / ".join(line.strip() for line in lines[-3:] if line.strip())
        return f"{lines_logged or 'it logged nothing'} (more in {self.log})"

    def _make_private(self) -> None:
        """Make an existing directory private, unless it is no data directory."""
        names = {entry.name for entry in self.path.iterdir()}
        if not names & _MARKERS and not names <= _CONTENTS:
            raise DirectoryError(
                f"the directory {self.path} is open to other users and holds other files; "
                f"close it with `chmod 700 {self.path}`, or choose another with MATCHPOST_DATA"
            )
        self.path.chmod(0o700)
