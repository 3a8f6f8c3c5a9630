"""Listens for mail: SMTP on a port, LMTP on a unix socket.

Both are meant for a mail server on the same machine, which faces the internet. They have limits
nevertheless, so that no command, mail or connection lasts without end.
"""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, cast

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP

from infra.process.liveness import LIVENESS
from services.mail.attachment_filter import AttachmentFilter
from services.mail.parse.mime import SIZE
from services.mail.smtp_handler import Handler, SerialExecutor

CONNECTIONS: Final = 20
"""Connections at once, at most, of all sockets together."""

WHOLE_SIZE: Final = 10 * 1024 * 1024
"""Bytes of a mail with its attachments, at most; these are dropped while it is received."""

MAILS: Final = 10
"""Mails of one connection, at most."""

COMMANDS: Final = 50
"""How often any other command may be used on a connection."""

IDLE_SECONDS: Final = 120.0
"""How long a command, or a whole mail, may take, and how long to wait for the next."""

LIFE_SECONDS: Final = 900.0
"""How long a connection may last."""

GRACE_SECONDS: Final = 1.5
"""How long mails that are being processed have left when the process must stop; other servers send them again."""

_LAST: Final = b".\r\n"
"""The line that ends a mail."""

_FULL: Final = b"421 4.3.2 too many connections; try again later\r\n"

# every line of a session, addresses included, is in the library's log below this level
logging.getLogger("mail.log").setLevel(logging.ERROR)


async def serve(counter: SerialExecutor, hostname: str, sockets: Sequence[socket.socket]) -> None:
    """Serve the sockets until SIGTERM or SIGINT, and then answer the mails that were begun."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    connections = Connections(counter, hostname)
    servers = [await connections.listen(one) for one in sockets]
    watching = asyncio.create_task(LIVENESS.watch_loop())
    LIVENESS.serving()
    await stop.wait()
    watching.cancel()
    for server in servers:
        server.close()
    await connections.close()


class Connections:
    """The open connections, and the settings that they share."""

    def __init__(
        self,
        counter: SerialExecutor,
        hostname: str,
        idle_seconds: float = IDLE_SECONDS,
        life_seconds: float = LIFE_SECONDS,
    ) -> None:
        self.handler = Handler(counter)
        self.hostname = hostname
        self.idle_seconds = idle_seconds
        self.life_seconds = life_seconds
        self.open: set[asyncio.BaseTransport] = set()
        self._taking = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def listen(self, listening: socket.socket) -> asyncio.Server:
        """Serve a socket: a unix socket by LMTP, any other by SMTP."""
        loop = asyncio.get_running_loop()
        if listening.family == socket.AF_UNIX:
            return await loop.create_unix_server(self._factory(_Lmtp), sock=listening)
        return await loop.create_server(self._factory(_Smtp), sock=listening)

    def _factory(self, kind: "type[_Smtp]") -> Callable[[], asyncio.Protocol]:
        return lambda: _TooMany() if len(self.open) >= CONNECTIONS else kind(self)

    def begin(self) -> None:
        """Note that a mail has begun."""
        self._taking += 1
        self._idle.clear()

    def end(self) -> None:
        """Note that a mail was answered."""
        self._taking -= 1
        if not self._taking:
            self._idle.set()

    async def close(self) -> None:
        """Wait until the mails that were begun are answered, and close all connections."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), GRACE_SECONDS)
        for transport in list(self.open):
            transport.close()


class _TooMany(asyncio.Protocol):
    """A connection above the limit."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Answer that there are too many connections, and close."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(_FULL)
        transport.close()


class _TextReader:
    """Reads the lines of a mail without its attachments, so that a connection never holds these in memory."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._filter = AttachmentFilter()
        self._left = WHOLE_SIZE

    async def readuntil(self, end: bytes) -> bytes:
        """Return the next line that is kept; a line above the library's limit once the whole is too large."""
        while True:
            line = await self._reader.readuntil(end)
            if line == _LAST:
                return line
            too_large = self._left < len(line)
            self._left = max(0, self._left - len(line))
            if too_large:
                return bytes(SIZE) + end
            if self._filter.keeps(line.removesuffix(end)):
                return line

    async def read(self, count: int) -> bytes:
        """Return a piece of a line that is too long."""
        return await self._reader.read(count)


class _Smtp(SMTP):
    """A connection that is counted, and closed after `life_seconds`."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(
            connections.handler,
            data_size_limit=WHOLE_SIZE,
            enable_SMTPUTF8=True,
            hostname=connections.hostname,
            ident="matchpost",
            timeout=connections.idle_seconds,
            command_call_limit={"MAIL": MAILS, "*": COMMANDS},
            loop=asyncio.get_running_loop(),
        )
        self._connections = connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a session."""
        self._mine = transport
        self._connections.open.add(transport)
        self._life = self.loop.call_later(self._connections.life_seconds, transport.close)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """End a session."""
        self._life.cancel()
        self._connections.open.discard(self._mine)
        super().connection_lost(error)

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - the library's name
        """Receive a mail and answer it."""
        self._connections.begin()
        whole = self._reader
        # the library reads nothing else until the mail has ended, and refuses what is more than its limit
        self._reader = cast("asyncio.StreamReader", _TextReader(whole))
        self.data_size_limit = SIZE
        try:
            await super().smtp_DATA(arg)
        finally:
            self._reader, self.data_size_limit = whole, WHOLE_SIZE
            self._connections.end()


class _Lmtp(_Smtp, LMTP):
    """The same for LMTP."""
