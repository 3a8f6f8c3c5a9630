"""Connections of the HTTP server: deadlines, and limits of size and number.

uvicorn's protocol waits without end for the head and the body of a request, keeps a head of any
size, and accepts connections until the files run out. The protocol here closes idle connections,
because each of them is a file that another client needs.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from email.utils import formatdate
from functools import partial
from types import FrameType
from typing import Any, Final, cast
from weakref import ref

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from domain.errors import Code
from infra.people.rate_limits import SecurityEvent, note_security
from services.app.error_codes import CODE_INFO
from services.http.requests import network_of

_GRACE_SECONDS: Final = 1
"""How long answers under way may take when the process is to end: less than `serve` waits for it."""

_RESERVED_FILES: Final = 200
"""Files that a process needs beside its connections: to Valkey, for logs and for modules."""

_MOST_JOINED: Final = 65_536
"""Bytes that are held back at most."""

ANSWER_AT_ONCE: Final = "answer at once"
"""The extension of a scope that answers 200 in one write, or returns False if `send` has to.

It takes the lines of the headers, as `header_lines` returns them, and the body.
"""

_OK, _TIMEOUT, _TOO_LARGE, _UNAVAILABLE = 200, 408, 431, 503
_CLOSING: Final = b"connection: close\r\n\r\n"


class ConnectionLimits(msgspec.Struct, frozen=True):
    """Limits of a connection, and of the number of connections."""

    head_seconds: float = 10.0
    """Time for the head of a request, from the connection or from its first byte."""
    body_seconds: float = 30.0
    """Time for the rest of a request, from the end of its head."""
    reading_seconds: float = 60.0
    """Time for a client to read enough that writing can go on."""
    head_bytes: int = 32_768
    """Length of all header lines, including the request line and trailers."""
    request_bytes: int = 1_048_576
    """Length of a whole request; far more than the limit of bodies."""
    connections: int = 10_000
    """Open connections of this process."""
    by_address: int = 256
    """Open connections of one network; without effect behind a trusted proxy."""


def header_lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return headers as they are sent."""
    parts: list[bytes] = []
    for name, value in headers:
        parts += (name, b": ", value, b"\r\n")
    return b"".join(parts)


def limits_for(files: int) -> ConnectionLimits:
    """Return the limits of a process that may have `files` files open."""
    most = min(ConnectionLimits().connections, max(16, files - _RESERVED_FILES))
    return ConnectionLimits(
        connections=most, by_address=min(ConnectionLimits().by_address, max(8, most // 2))
    )


class HttpConnections:
    """The connections of a process, counted by network."""

    def __init__(self, bounds: ConnectionLimits, *, behind_proxy: bool) -> None:
        self.limits = bounds
        self._behind_proxy = behind_proxy
        self._open: Counter[str] = Counter()
        self._all = 0

    def add(self, network: str) -> bool:
        """Count a connection and return True; without room for it, return False."""
        crowded = not self._behind_proxy and self._open[network] >= self.limits.by_address
        if crowded or self._all >= self.limits.connections:
            return False
        self._open[network] += 1
        self._all += 1
        return True

    def remove(self, network: str) -> None:
        """Stop counting a connection."""
        self._all -= 1
        self._open[network] -= 1
        if not self._open[network]:
            del self._open[network]


class JoinedWrites:
    """A transport whose writes of one moment go together.

    uvicorn writes head and body of an answer apart; each would be a system call, and wake the client.
    """

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self.is_closing = transport.is_closing  # here because it is called for each header
        self._loop = asyncio.get_running_loop()
        self._waiting: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write with what else is written before the loop's next turn."""
        if not self._waiting:
            self._loop.call_soon(self.flush)
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _MOST_JOINED:  # so that a long answer is paused for a slow client
            self.flush()

    def write_whole(self, data: bytes) -> None:
        """Write a whole answer, which needs to wait for nothing else."""
        self.flush()
        if not self.is_closing():
            self._transport.write(data)

    def flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            joined, self._waiting, self._size = b"".join(self._waiting), [], 0
            if not self._transport.is_closing():  # aborted meanwhile
                self._transport.write(joined)

    def close(self) -> None:
        """Close after everything is written."""
        self.flush()
        self._transport.close()


class LimitedProtocol(HttpToolsProtocol):
    """A connection with deadlines and limits.

    What a usual request calls names `HttpToolsProtocol`, because by `super` each call takes twice as long.
    """

    def __init__(self, *args: Any, open_connections: HttpConnections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._connections = open_connections
        self._limits = open_connections.limits
        self._network: str | None = None
        """The client's network; None while the connection is not counted."""
        self._deadline: asyncio.TimerHandle | None = None
        self._read_deadline: asyncio.TimerHandle | None = None
        self._in_head = self._in_request = False
        self._starts_in_this_data = self._ends_in_this_data = False
        self._head_size = self._parsed_size = self._size = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or refuse one too many."""
        super().connection_made(cast("asyncio.Transport", JoinedWrites(transport)))
        network = network_of(self.client[0]) if self.client else ""
        if not self._connections.add(network):
            note_security(SecurityEvent.LIMIT, network=network, limit="connections")
            self._refuse(
                _UNAVAILABLE, Code.BUSY, "there are too many connections; try again in a minute"
            )
            return
        self._network = network
        self._set_deadline(self._limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release a connection."""
        if self._network is not None:
            self._connections.remove(self._network)
            self._network = None
        self._set_deadline(None)
        self._cancel_read_deadline()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def shutdown(self) -> None:
        """End after the answer under way; a stream of events, which has no length, ends at once."""
        super().shutdown()
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        if cycle is not None and cycle.response_started and cycle.chunked_encoding:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Parse received bytes within the limits."""
        if self.transport.is_closing():
            return
        self._starts_in_this_data = self._ends_in_this_data = False
        HttpToolsProtocol.data_received(self, data)
        if self._in_request and not self._starts_in_this_data:
            self._count(len(data))
        # not while parsing, because most requests arrive as a whole and need no deadline
        if self._deadline is None and not self.transport.is_closing():
            if self._in_request and not self._in_head:
                self._set_deadline(self._limits.body_seconds)
            elif self._in_request or not self._ends_in_this_data:
                # blank lines begin no request; without this they would postpone its deadline
                self._set_deadline(self._limits.head_seconds)

    def _count(self, count: int) -> None:
        """Count bytes of an incomplete request, because an endless line never becomes a header."""
        self._size += count
        if self._in_head:
            self._count_head(count)
        elif self._size > self._limits.request_bytes:
            self.transport.close()

    def _count_head(self, count: int) -> None:
        self._head_size = max(self._head_size, self._parsed_size) + count
        if self._head_size > self._limits.head_bytes and not self.transport.is_closing():
            message = f"a request has at most {self._limits.head_bytes} bytes of headers"
            self._refuse(_TOO_LARGE, Code.TOO_LONG, message)

    def on_message_begin(self) -> None:
        """Start a request."""
        HttpToolsProtocol.on_message_begin(self)
        scope: Any = self.scope
        scope["extensions"] = {"left": self.transport.is_closing}
        self._in_head = self._in_request = self._starts_in_this_data = True
        self._head_size = self._parsed_size = self._size = 0

    def on_url(self, url: bytes) -> None:
        """Receive a part of the request line."""
        self._count_parsed(len(url))
        HttpToolsProtocol.on_url(self, url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Receive a header or a trailer."""
        self._parsed_size += len(name) + len(value)
        if self._parsed_size > self._limits.head_bytes:
            self._count_head(0)
        if not self.transport.is_closing():
            HttpToolsProtocol.on_header(self, name, value)

    def _count_parsed(self, count: int) -> None:
        """Count header bytes as they are parsed, because one piece of data may have many lines."""
        self._parsed_size += count
        if self._parsed_size > self._limits.head_bytes:
            self._count_head(0)

    def on_headers_complete(self) -> None:
        """Start the answer."""
        self._in_head = False
        if self._deadline is not None:  # that of the head
            self._set_deadline(None)
        if not self.transport.is_closing():
            HttpToolsProtocol.on_headers_complete(self)
            scope: Any = self.scope
            # weakly, because a request that refers to itself waits for the garbage collector
            scope["extensions"][ANSWER_AT_ONCE] = partial(self._answer_at_once, ref(self.cycle))

    def _answer_at_once(
        self, answering: ref[RequestResponseCycle], lines: bytes, body: bytes
    ) -> bool:
        """Answer 200, which `send` does in two steps that check what is known here."""
        cycle = answering()
        if cycle is None or cycle.disconnected or not cycle.keep_alive or self.flow.write_paused:
            return False
        cycle.response_started = cycle.response_complete = True
        first = STATUS_LINE[_OK] + header_lines(cycle.default_headers)
        joined: Any = self.transport  # `JoinedWrites`
        joined.write_whole(b"".join((first, lines, b"\r\n", body)))
        cycle.message_event.set()
        cycle.on_response()
        return True

    def on_body(self, body: bytes) -> None:
        """Receive a part of the body."""
        if not self.transport.is_closing():
            HttpToolsProtocol.on_body(self, body)

    def on_message_complete(self) -> None:
        """Finish a request that has arrived completely."""
        self._in_request = False
        self._ends_in_this_data = True
        if self._deadline is not None:
            self._set_deadline(None)
        if not self.transport.is_closing():
            HttpToolsProtocol.on_message_complete(self)

    def pause_writing(self) -> None:
        """Wait a limited time for a client that does not read."""
        super().pause_writing()
        self._cancel_read_deadline()
        self._read_deadline = self.loop.call_later(
            self._limits.reading_seconds, self.transport.abort
        )

    def resume_writing(self) -> None:
        """Resume writing."""
        self._cancel_read_deadline()
        super().resume_writing()

    def _cancel_read_deadline(self) -> None:
        if self._read_deadline is not None:
            self._read_deadline.cancel()
            self._read_deadline = None

    def _set_deadline(self, seconds: float | None) -> None:
        """Set the deadline of the next part; None for no deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if seconds is not None:
            self._deadline = self.loop.call_later(seconds, self._deadline_passed)

    def _deadline_passed(self) -> None:
        """Close a connection whose deadline has passed."""
        self._deadline = None
        if self.transport.is_closing():
            return
        if self.pipeline or self.flow.read_paused:  # the server itself has stopped reading
            self._set_deadline(self._limits.body_seconds)
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
                "title": CODE_INFO[code].meaning,
                "status": status,
                "detail": sentence,
                "code": code,
            }
        ).encode()
        retry = b"retry-after: 60\r\n" if status == _UNAVAILABLE else b""
        kind = b"content-type: application/problem+json\r\n"
        length = b"content-length: %d\r\n" % len(body)
        self.transport.write(b"".join([STATUS_LINE[status], kind, length, retry, _CLOSING, body]))
        self.transport.close()


class _DatedState(ServerState):
    """The state of all connections of a process. It finds the date of an answer when that begins, so no timer is needed."""

    _second = -1
    _headers: Sequence[tuple[bytes, bytes]] = ()

    @property
    def default_headers(self) -> list[tuple[bytes, bytes]]:
        """The headers that each answer has."""
        if (now := int(time.time())) != self._second:
            self._second = now
            self._headers = [(b"date", formatdate(now, usegmt=True).encode())]
        return [*self._headers]

    @default_headers.setter
    def default_headers(self, headers: object) -> None:
        """Ignore what uvicorn sets."""


class QuietServer(uvicorn.Server):
    """uvicorn's server, which rests until a signal asks it to end.

    uvicorn itself looks ten times a second, which is most of what an idle process does.
    """

    _wake: Callable[[], object] | None = None

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.server_state = _DatedState()

    async def main_loop(self) -> None:
        """Wait until the process should end."""
        ending = asyncio.Event()
        # a signal interrupts no wait of the loop by itself
        self._wake = partial(asyncio.get_running_loop().call_soon_threadsafe, ending.set)
        if not self.should_exit:
            await ending.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note that a signal asks to end."""
        super().handle_exit(sig, frame)
        if self._wake is not None:
            self._wake()


def server_config(app: Any, bounds: ConnectionLimits, *, behind_proxy: bool) -> uvicorn.Config:
    """Return uvicorn's configuration; uvicorn itself reads no header of a proxy."""
    counted = HttpConnections(bounds, behind_proxy=behind_proxy)
    protocol: Any = partial(LimitedProtocol, open_connections=counted)
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
