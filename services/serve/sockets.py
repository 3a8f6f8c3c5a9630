"""Listening sockets of the front ends, opened before the process that answers on them runs.

A client that connects early, or while that process is restarted, therefore waits instead of failing.
"""

import errno
import os
import socket
import stat
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from infra.settings.settings import Settings

_BACKLOG: Final = 2048


class KeptSockets:
    """The sockets that `serve` listens on, by the setting and its value, and those that the program before has left."""

    def __init__(self, left: Mapping[str, int]) -> None:
        self._left = dict(left)
        self._open: dict[str, socket.socket] = {}

    def open(
        self, setting: str, address: str, listens: Callable[[], socket.socket]
    ) -> socket.socket:
        """Return the socket that was left for an address, otherwise that of `listens`, whose errors pass through."""
        name = f"{setting}={address}"
        left = self._left.pop(name, None)
        opened = self._open[name] = listens() if left is None else socket.socket(fileno=left)
        opened.set_inheritable(False)
        return opened

    def close_unused(self) -> None:
        """Close what was left for addresses that are no longer in the settings."""
        while self._left:
            os.close(self._left.popitem()[1])

    def hand_over(self) -> dict[str, int]:
        """Return the descriptors for the program that replaces this process."""
        return {name: opened.fileno() for name, opened in self._open.items()}


def listen(address: str, setting: str = "MATCHPOST_HTTP") -> socket.socket:
    """Listen on `host:port`; raise OSError with a sentence about `setting` if that is impossible."""
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        listener = _bound(host, int(port))
    except (OSError, OverflowError) as error:
        raise OSError(f"{setting} can't be {address}: {_why(error)}") from error
    listener.listen(_BACKLOG)
    return listener


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, place = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(place)
    except BaseException:
        bound.close()
        raise
    return bound


def listen_unix(path: Path) -> socket.socket:
    """Listen on a unix socket; raise OSError with a sentence about MATCHPOST_LMTP if that fails.

    Every user who may enter its directory may connect, as every user of the machine may to a port.
    """
    listener = socket.socket(socket.AF_UNIX)
    try:
        _clear(path)
        listener.bind(str(path))
        path.chmod(0o666)
    except OSError as error:
        listener.close()
        raise OSError(f"MATCHPOST_LMTP can't be {path}: {_why(error)}") from error
    listener.listen(_BACKLOG)
    return listener


def listen_for_mail(
    settings: Settings, stack: ExitStack, kept: KeptSockets | None = None
) -> dict[str, socket.socket]:
    """Listen for mail as the settings say; return the sockets by protocol. `stack` closes them."""
    kept = kept or KeptSockets({})
    sockets = {}
    if (smtp := settings.smtp) != "off":
        name = "MATCHPOST_SMTP"
        sockets["smtp"] = stack.enter_context(kept.open(name, smtp, lambda: listen(smtp, name)))
    if (lmtp := settings.lmtp) is not None:
        opened = kept.open("MATCHPOST_LMTP", str(lmtp), lambda: listen_unix(lmtp))
        sockets["lmtp"] = stack.enter_context(opened)
        stack.callback(lmtp.unlink, missing_ok=True)
    return sockets


def _clear(path: Path) -> None:
    """Delete a socket file on which no process listens."""
    if not path.exists() or not stat.S_ISSOCK(path.stat().st_mode):
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "another program listens there; choose another port, or off"
    if isinstance(error, socket.gaierror) or not isinstance(error, OSError):
        return "there is no such address"
    if not error.errno:  # as for a path that is too long
        return str(error)
    return os.strerror(error.errno or 0)


def address_of(listener: socket.socket) -> str:
    """Return the URL that reaches a socket from this machine."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
