"""A TCP proxy that breaks one exchange: a reply lost, cut short, late, or never; a request unsent."""

import contextlib
import socket
import time
from enum import StrEnum
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self

CHUNK = 1 << 16


class Break(StrEnum):
    """What is done to one exchange."""

    LOST = "reply lost"
    """The request is passed on; its reply is read and dropped, and the connection closed."""
    SHORT = "reply cut short"
    """Half of the reply is passed on, and the connection closed."""
    SILENT = "half-open"
    """The request is passed on; from then on nothing comes back, and nothing is closed."""
    LATE = "reply late"
    """The reply is passed on a second later."""
    UNSENT = "request lost"
    """The connection is closed without passing the request on."""


class Proxy:
    """Listens on a loopback port of its own in front of `target`; a context manager."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = Lock()
        self._armed: tuple[Break, int] | None = None
        self.done = 0
        """How many exchanges were broken."""
        self._open: list[socket.socket] = []
        self._closing = Event()

    def __enter__(self) -> Self:
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        _close(self._listener)
        for end in self._open:
            _close(end)

    def arm(self, what: Break, requests: int) -> None:
        """Break the exchange of the nth request from now, whatever connection it is on."""
        with self._lock:
            self._armed = what, requests

    def disarm(self) -> None:
        """Break nothing any more."""
        with self._lock:
            self._armed = None

    def _due(self) -> Break | None:
        with self._lock:
            if self._armed is None:
                return None
            what, left = self._armed
            self._armed = (what, left - 1) if left > 1 else None
            if left > 1:
                return None
            self.done += 1
            return what

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                near, _ = self._listener.accept()
            except OSError:  # closed
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += [near, far]
            link = _Link(near, far)
            Thread(target=self._requests, args=(link,), daemon=True).start()
            Thread(target=link.replies, daemon=True).start()

    def _requests(self, link: "_Link") -> None:
        with contextlib.suppress(OSError):
            while data := link.neighbours.recv(CHUNK):
                what = self._due()
                if what is Break.UNSENT:
                    break
                if what is not None:
                    link.broken = what
                link.far.sendall(data)
        link.close()


class _Link:
    """One connection through the proxy."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.neighbours = near
        self.far = far
        self.broken: Break | None = None

    def replies(self) -> None:
        with contextlib.suppress(OSError):
            while data := self.far.recv(CHUNK):
                match self.broken:
                    case Break.LOST:
                        break
                    case Break.SHORT:
                        self.neighbours.sendall(data[: len(data) // 2])
                        break
                    case Break.SILENT:
                        continue
                    case Break.LATE:
                        time.sleep(1.0)
                        self.broken = None
                self.neighbours.sendall(data)
            else:
                if self.broken is Break.SILENT:
                    return
        self.close()

    def close(self) -> None:
        _close(self.neighbours)
        _close(self.far)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
