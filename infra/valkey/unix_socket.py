"""Short talks with a server on its unix socket, without a client: none of them waits for longer than a second."""

import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

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
