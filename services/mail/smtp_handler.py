"""Answers the SMTP commands of incoming mail.

A mail is answered with `250` if it was carried out, now or before; with `451` if that is not known,
so that it is delivered again; with `550` if it never will be. The recipient is checked at RCPT, so
that nobody can send a mail without a valid recipient.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Final, Protocol, TypeVar

from aiosmtpd.smtp import SMTP, Envelope, Session
from redis.exceptions import RedisError

from domain.errors import Refusal
from infra.durability.durability import DurabilityError
from infra.process.metrics import count_received_mail
from infra.valkey.server import NotRunningError
from services.mail.inbound import TryAgainError
from services.mail.parse.mime import UnfitError

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
