"""Mail as it comes in, command by command, and what each is answered.

A mail is answered with `250` when it was carried out, or was before; with `451` when that is not
known, so that it is delivered again; with `550` when it will never be. Its recipient is looked up
when it is named: nobody else gets as far as sending a mail.
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
from infra.durability import DurabilityError
from infra.valkey.server import NotRunningError
from services.mail.inbound import TryAgainError
from services.mail.parse.mime import UnfitError

logger = logging.getLogger(__name__)

_TAKEN: Final = "250 2.0.0 taken"
_LATER: Final = "451 4.3.0 not taken now; try again later"
_ONE: Final = "452 4.5.3 one recipient a mail"
_NOBODY: Final = "550 5.1.1 there is no such address here"

_AWAY: Final = (RedisError, DurabilityError, NotRunningError, OSError)
"""Errors that say nothing of the mail: the server of the matches is away or not to be relied on."""

T = TypeVar("T")


class MailProcessor(Protocol):
    """Who takes mail; `services.mail.inbound.InboundMail` does."""

    def knows(self, address: str) -> bool:
        """Whether mail to an address is taken."""
        ...

    def take(self, recipient: str, sender: str, data: bytes) -> None:
        """Carry a mail out; raises `UnfitError` and `TryAgainError`."""
        ...


class SerialExecutor:
    """Hands mail to a taker, one at a time, in a thread of its own. Close it when done.

    `open_taker` gives one; what it rests on may go away, so it is opened anew after an error.
    """

    def __init__(self, open_taker: Callable[[], AbstractContextManager[MailProcessor]]) -> None:
        self._open_taker = open_taker
        self._thread = ThreadPoolExecutor(1, "mail")
        self._closing: AbstractContextManager[MailProcessor] | None = None
        self._taker: MailProcessor | None = None

    async def run(self, work: Callable[[MailProcessor], T]) -> T:
        """Do something with the taker; what it raises is raised here."""
        loop = asyncio.get_running_loop()
        # shielded: a mail that is being carried out is carried out, if its sender leaves or not
        return await asyncio.shield(loop.run_in_executor(self._thread, self._run, work))

    def close(self) -> None:
        """Finish the mail in hand, and close."""
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _run(self, work: Callable[[MailProcessor], T]) -> T:
        try:
            return work(self._opened())
        except (*_AWAY, TryAgainError):
            # an outcome that was waited for in vain may have been told on a connection that is gone
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
    """What both protocols do with the commands of a connection."""

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
        """Say whether mail to an address is taken."""
        if envelope.rcpt_tos:
            return _ONE
        try:
            known = await self._counter.run(lambda taker: taker.knows(address))
        except _AWAY as error:
            return _away(error)
        except Refusal as reason:
            logger.info("a mail is to come again: %s", reason.code)
            return _LATER
        if not known:
            return _NOBODY
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 known"

    async def handle_DATA(  # noqa: N802 - the library's name
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Take a mail."""
        data = envelope.original_content or b""
        recipient, sender = envelope.rcpt_tos[0], envelope.mail_from or ""
        try:
            await self._counter.run(lambda taker: taker.take(recipient, sender, data))
        except UnfitError as error:
            return f"550 5.6.0 not taken: {error}"
        except TryAgainError as error:
            logger.info("a mail is to come again: %s", error)
            return _LATER
        except _AWAY as error:
            return _away(error)
        return _TAKEN

    async def handle_exception(self, error: Exception) -> str:
        """Answer where we fail ourselves; the mail is not in what is logged."""
        # the place is told alone: the message may repeat what the mail says
        place = traceback.extract_tb(error.__traceback__)[-1]
        logger.error("a mail failed: %s, %s:%s", type(error).__name__, place.filename, place.lineno)
        return _LATER


def _away(error: Exception) -> str:
    logger.warning("no mail is taken: %s", error)
    return _LATER
