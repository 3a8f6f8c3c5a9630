"""Connections of the HTTP server: deadlines, and limits of size and number.

uvicorn's protocol waits without end for the head and the body of a request, keeps a head of any
size, and accepts connections until the files run out. The protocol here closes idle connections,
because each of them is a file that another client needs.
"""

import asyncio
import json
from collections import Counter
from functools import partial
from typing import Any, Final, cast

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from domain.errors import Code
from services.api.networks import network_of
from services.app.error_codes import PROBLEMS

_GRACE_SECONDS: Final = 5
_RESERVED_FILES: Final = 200
"""Files that a process needs beside its connections: to Valkey, for logs and for modules."""

_TIMEOUT, _TOO_LARGE, _FULL = 408, 431, 503
_CLOSING: Final = b"connection: close\r\n\r\n"


class Bounds(msgspec.Struct, frozen=True):
    """Limits of a connection, and of the number of connections."""

    head_seconds: float = 10.0
    """For the head of a request, from the connection or from its first byte."""
    body_seconds: float = 30.0
    """For the rest of a request, from the end of its head."""
    reading_seconds: float = 60.0
    """For a client to read enough that writing can go on."""
    head_bytes: int = 32_768
    """Of all header lines, including the request line and trailers."""
    request_bytes: int = 1_048_576
    """Of a whole request; far more than a body that is read may have."""
    connections: int = 10_000
    """At once, in this process."""
    by_address: int = 256
    """At once, from one network, if no proxy is trusted."""


def bounds_for(files: int) -> Bounds:
    """Return the bounds of a process that may have `files` files open."""
    most = min(Bounds().connections, max(16, files - _RESERVED_FILES))
    return Bounds(connections=most, by_address=min(Bounds().by_address, max(8, most // 2)))


class Connections:
    """The connections of a process, counted by network."""

    def __init__(self, bounds: Bounds, *, behind_proxy: bool) -> None:
        self.bounds = bounds
        self._behind_proxy = behind_proxy
        self._open: Counter[str] = Counter()
        self._all = 0

    def enter(self, network: str) -> bool:
        """Count a connection and return True; without room for it, return False."""
        crowded = not self._behind_proxy and self._open[network] >= self.bounds.by_address
        if crowded or self._all >= self.bounds.connections:
            return False
        self._open[network] += 1
        self._all += 1
        return True

    def leave(self, network: str) -> None:
        """Stop counting a connection."""
        self._all -= 1
        self._open[network] -= 1
        if not self._open[network]:
            del self._open[network]


class BoundedProtocol(HttpToolsProtocol):
    """A connection with deadlines and limits."""

    def __init__(self, *given: Any, open_connections: Connections, **more: Any) -> None:
        super().__init__(*given, **more)
        self._connections = open_connections
        self._bounds = open_connections.bounds
        self._network: str | None = None
        """The client's network; None while the connection is not counted."""
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._in_head = self._in_request = self._began_now = False
        self._head = self._seen = self._size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse one too many."""
        super().connection_made(transport)
        network = network_of(self.client[0]) if self.client else ""
        if not self._connections.enter(network):
            self._refuse(_FULL, Code.BUSY, "there are too many connections; try again in a minute")
            return
        self._network = network
        self._expect(self._bounds.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release a connection."""
        if self._network is not None:
            self._connections.leave(self._network)
            self._network = None
        self._expect(None)
        self._stop_unread()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes within the limits."""
        if self.transport.is_closing():
            return
        if not self._in_request and self._deadline is None:
            # blank lines begin no request; without this they would postpone its deadline
            self._expect(self._bounds.head_seconds)
        self._began_now = False
        super().data_received(data)
        if self._in_request and not self._began_now:
            self._count(len(data))

    def _count(self, count: int) -> None:
        """Count bytes of an incomplete request, because an endless line never becomes a header."""
        self._size += count
        if self._in_head:
            self._count_head(count)
        elif self._size > self._bounds.request_bytes:
            self.transport.close()

    def _count_head(self, count: int) -> None:
        self._head += count
        if self._head > self._bounds.head_bytes and not self.transport.is_closing():
            message = f"a request has at most {self._bounds.head_bytes} bytes of headers"
            self._refuse(_TOO_LARGE, Code.TOO_LONG, message)

    def on_message_begin(self) -> None:
        """Start a request."""
        super().on_message_begin()
        cast("dict[str, Any]", self.scope)["extensions"] = {"left": self.transport.is_closing}
        self._in_head = self._in_request = self._began_now = True
        self._head = self._seen = self._size = 0
        if self._deadline is None:
            self._expect(self._bounds.head_seconds)

    def on_url(self, url: bytes) -> None:
        """Receive a part of the request line."""
        self._see(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Receive a header or a trailer."""
        self._see(len(name) + len(value))
        if not self.transport.is_closing():
            super().on_header(name, value)

    def _see(self, count: int) -> None:
        """Count header bytes as they are parsed, because one piece may hold many lines."""
        self._seen += count
        self._head = max(self._head, self._seen)
        self._count_head(0)

    def on_headers_complete(self) -> None:
        """Start the answer, and the deadline of the body."""
        self._in_head = False
        if not self.transport.is_closing():
            self._expect(self._bounds.body_seconds)
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Receive a part of the body."""
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Finish a request that has arrived completely."""
        self._in_request = False
        self._expect(None)
        if not self.transport.is_closing():
            super().on_message_complete()

    def pause_writing(self) -> None:
        """Wait a limited time for a client that does not read."""
        super().pause_writing()
        self._stop_unread()
        self._unread = self.loop.call_later(self._bounds.reading_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Resume writing."""
        self._stop_unread()
        super().resume_writing()

    def _stop_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _expect(self, seconds: float | None) -> None:
        """Set the deadline of the next part; None for no deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._late)

    def _late(self) -> None:
        """Close a connection whose deadline has passed."""
        self._deadline = None
        if self.transport.is_closing():
            return
        if self.pipeline or self.flow.read_paused:  # the server itself has stopped reading
            self._expect(self._bounds.body_seconds)
        elif not self._in_request or self._answering():
            self.transport.close()
        else:
            self._refuse(_TIMEOUT, Code.BAD_REQUEST, "the request did not arrive in time")

    def _answering(self) -> bool:
        """Return whether the answer to the current request has started."""
        return not self._in_head and self.cycle.response_started

    def _refuse(self, status: int, code: Code, sentence: str) -> None:
        """Answer in place of the application, and close."""
        if self._in_request and not self._in_head:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        body = json.dumps(
            {
                "type": f"/api/errors/{code}",
                "title": PROBLEMS[code].meaning,
                "status": status,
                "detail": sentence,
                "code": code,
            }
        ).encode()
        retry = b"retry-after: 60\r\n" if status == _FULL else b""
        kind = b"content-type: application/problem+json\r\n"
        length = b"content-length: %d\r\n" % len(body)
        self.transport.write(b"".join([STATUS_LINE[status], kind, length, retry, _CLOSING, body]))
        self.transport.close()


def server_config(app: Any, bounds: Bounds, *, behind_proxy: bool) -> uvicorn.Config:
    """Return uvicorn's configuration; uvicorn itself reads no header of a proxy."""
    counted = Connections(bounds, behind_proxy=behind_proxy)
    protocol: Any = partial(BoundedProtocol, open_connections=counted)
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        # only `MATCHPOST_TRUSTED_PROXY` decides whether a proxy is trusted
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
