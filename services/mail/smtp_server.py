"""Listens for mail: SMTP on a port, LMTP on a unix socket.

Both are meant for a mail server on the same machine, which faces the internet. They have limits
nevertheless, so that no command, mail or connection lasts without end.

Answers the SMTP commands of incoming mail.

A mail is answered with `250` if it was carried out, now or before; with `451` if that is not known,
so that it is delivered again; with `550` if it never will be. The recipient is checked at RCPT, so
that nobody can send a mail without a valid recipient.
"""

import asyncio
import logging
import signal
import socket
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from typing import Final, Protocol, TypeVar, cast

from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, Envelope, Session
from redis.exceptions import RedisError

from domain.errors import Refusal
from infra.durability.durability import DurabilityError
from infra.process.liveness import LIVENESS
from infra.process.metrics import count_received_mail
from infra.valkey.server import NotRunningError
from services.mail.attachment_filter import AttachmentFilter
from services.mail.inbound import TryAgainError
from services.mail.parse.mime import SIZE, UnfitError

logger = logging.getLogger(__name__)

_TAKEN: Final = "250 2.0.0 accepted"
_LATER: Final = "451 4.3.0 not accepted now; try again later"
_ONE: Final = "452 4.5.3 only one recipient per mail"
_NOBODY: Final = "550 5.1.1 there is no such address here"

_RESULTS: Final = {"2": "accepted", "4": "later", "5": "refused"}
"""Results for the metrics, by the first digit of an answer."""

_AWAY: Final = (RedisError, DurabilityError, NotRunningError, OSError)
"""Errors that are not the mail's fault: the server of the matches is away or unreliable."""

T = TypeVar("T")


class MailProcessor(Protocol):
    """Processes mail; `services.mail.inbound.InboundMail` implements it."""

    def knows(self, address: str) -> bool:
        """Return whether an address accepts mail."""
        ...

    def take(self, recipient: str, sender: str, data: bytes) -> None:
        """Carry out a mail; raises `UnfitError` and `TryAgainError`."""
        ...


class SerialExecutor:
    """Passes mails to a processor, one at a time, in a separate thread. Close it when done.

    `open_taker` opens a processor. It is opened again after an error, because its connections may be
    lost.
    """

    def __init__(self, open_taker: Callable[[], AbstractContextManager[MailProcessor]]) -> None:
        self._open_taker = open_taker
        self._thread = ThreadPoolExecutor(1, "mail")
        self._closing: AbstractContextManager[MailProcessor] | None = None
        self._taker: MailProcessor | None = None

    async def run(self, work: Callable[[MailProcessor], T]) -> T:
        """Run `work` with the processor; its exceptions are raised here."""
        loop = asyncio.get_running_loop()
        # shielded, because a mail that was begun must be finished even if its sender disconnects
        return await asyncio.shield(loop.run_in_executor(self._thread, self._run, work))

    def close(self) -> None:
        """Finish the mail that is being processed, and close."""
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _run(self, work: Callable[[MailProcessor], T]) -> T:
        try:
            return work(self._opened())
        except (*_AWAY, TryAgainError):
            # an outcome that did not arrive may have been published on a connection that is lost
            self._close()
            raise

    def _opened(self) -> MailProcessor:
        if self._taker is None:
            self._closing = self._open_taker()
            self._taker = self._closing.__enter__()
        return self._taker

    def _close(self) -> None:
        closing, self._closing, self._taker = self._closing, None, None
        if closing is not None:
            closing.__exit__(None, None, None)


class Handler:
    """Handles the commands of a connection, the same for SMTP and LMTP."""

    def __init__(self, counter: SerialExecutor) -> None:
        self._counter = counter

    async def handle_RCPT(  # noqa: N802 - the library's name and arguments
        self,
        _server: SMTP,
        _session: Session,
        envelope: Envelope,
        address: str,
        _options: list[str],
    ) -> str:
        """Answer whether an address accepts mail."""
        if envelope.rcpt_tos:
            return _ONE
        try:
            known = await self._counter.run(lambda taker: taker.knows(address))
        except _AWAY as error:
            return _away(error)
        except Refusal as reason:
            logger.info("a mail must be delivered again: %s", reason.code)
            return _LATER
        if not known:
            return _NOBODY
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 recipient accepted"

    async def handle_DATA(  # noqa: N802 - the library's name
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Process a mail and answer it."""
        answer = await self._process(envelope)
        count_received_mail(_RESULTS[answer[0]])
        return answer

    async def _process(self, envelope: Envelope) -> str:
        data = envelope.original_content or b""
        recipient, sender = envelope.rcpt_tos[0], envelope.mail_from or ""
        try:
            await self._counter.run(lambda taker: taker.take(recipient, sender, data))
        except UnfitError as error:
            return f"550 5.6.0 not accepted: {error}"
        except TryAgainError as error:
            logger.info("a mail must be delivered again: %s", error)
            return _LATER
        except _AWAY as error:
            return _away(error)
        return _TAKEN

    async def handle_exception(self, error: Exception) -> str:
        """Answer after an unexpected error, and log it without the mail."""
        count_received_mail("failed")
        # only the place is logged, because the message may quote the mail
        place = traceback.extract_tb(error.__traceback__)[-1]
        logger.error("a mail failed: %s, %s:%s", type(error).__name__, place.filename, place.lineno)
        return _LATER


def _away(error: Exception) -> str:
    logger.warning("mail can't be accepted now: %s", error)
    return _LATER


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
