"""The sockets on which mail comes in: SMTP on a port, LMTP on a unix socket.

Both are meant for a mail server on the same machine, which faces the world, and have limits all the
same: none of its commands, mails and connections goes on for ever.
"""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP

from infra.liveness import LIVENESS
from services.mail.parse.mime import SIZE
from services.mail.smtp_handler import Handler, SerialExecutor

CONNECTIONS: Final = 20
"""Connections at once, of all sockets together."""

MAILS: Final = 10
"""Mails of one connection."""

COMMANDS: Final = 50
"""How often any other command may be given on a connection."""

IDLE_SECONDS: Final = 120.0
"""How long a command may take, a whole mail included, and how long the next is waited for."""

LIFE_SECONDS: Final = 900.0
"""How long a connection may last."""

GRACE_SECONDS: Final = 8.0
"""How long mails in hand have to be answered when the process is told to stop."""

_FULL: Final = b"421 4.3.2 too many connections; try again later\r\n"

# every line of a session, addresses included, is in the library's log below this level
logging.getLogger("mail.log").setLevel(logging.ERROR)


async def serve(counter: SerialExecutor, hostname: str, sockets: Sequence[socket.socket]) -> None:
    """Answer on sockets until SIGTERM or SIGINT, and answer the mails in hand then."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    doors = Connections(counter, hostname)
    servers = [await doors.listen(one) for one in sockets]
    turning = asyncio.create_task(LIVENESS.watch_loop())
    await stop.wait()
    turning.cancel()
    for server in servers:
        server.close()
    await doors.close()


class Connections:
    """The connections there are, and what they have in common."""

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
        """Answer on a socket: by LMTP on a unix socket, by SMTP on another."""
        loop = asyncio.get_running_loop()
        if listening.family == socket.AF_UNIX:
            return await loop.create_unix_server(self._factory(_Lmtp), sock=listening)
        return await loop.create_server(self._factory(_Smtp), sock=listening)

    def _factory(self, kind: "type[_Smtp]") -> Callable[[], asyncio.Protocol]:
        return lambda: _TooMany() if len(self.open) >= CONNECTIONS else kind(self)

    def begin(self) -> None:
        """Note that a mail is on its way."""
        self._taking += 1
        self._idle.clear()

    def end(self) -> None:
        """Note that a mail was answered."""
        self._taking -= 1
        if not self._taking:
            self._idle.set()

    async def close(self) -> None:
        """Wait for the mails in hand to be answered, and end all connections."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), GRACE_SECONDS)
        for transport in list(self.open):
            transport.close()


class _TooMany(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say so, and close."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(_FULL)
        transport.close()


class _Smtp(SMTP):
    """A connection that is counted, and does not last for ever."""

    def __init__(self, doors: Connections) -> None:
        super().__init__(
            doors.handler,
            data_size_limit=SIZE,
            enable_SMTPUTF8=True,
            hostname=doors.hostname,
            ident="matchpost",
            timeout=doors.idle_seconds,
            command_call_limit={"MAIL": MAILS, "*": COMMANDS},
            loop=asyncio.get_running_loop(),
        )
        self._doors = doors

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a session."""
        self._mine = transport
        self._doors.open.add(transport)
        self._life = self.loop.call_later(self._doors.life_seconds, transport.close)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """End a session."""
        self._life.cancel()
        self._doors.open.discard(self._mine)
        super().connection_lost(error)

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - the library's name
        """Take a mail, up to its answer."""
        self._doors.begin()
        try:
            await super().smtp_DATA(arg)
        finally:
            self._doors.end()


class _Lmtp(_Smtp, LMTP):
    """The same for LMTP."""
