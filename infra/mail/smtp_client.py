"""SMTP client: sessions with the relay, and the result of each e-mail."""

import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Final

import msgspec

from infra.process.liveness import LIVENESS
from infra.settings.smtp_url import SmtpUrl

ANSWER_SECONDS: Final = 30.0
"""Seconds the relay may take for a reply."""

_PERMANENT: Final = range(500, 600)

_LOGIN: Final = (530, 534, 535, 538)
"""Replies that ask for another login: our settings are wrong, not the e-mail."""

_REPLY_LIMIT: Final = 160

_STATUS: Final = re.compile(r"\d{3}(?: \d\.\d{1,3}\.\d{1,3})?")


class RelayDownError(Exception):
    """The relay can't be used now for any e-mail; the message says why, without a login."""


class BrokenSessionError(RelayDownError):
    """The connection broke while an e-mail was sent; the relay may have accepted it."""


class DeliveryStatus(StrEnum):
    """Result of sending an e-mail."""

    SENT = "sent"
    """The relay has accepted it."""
    LATER = "later"
    """The relay refused it for now, or by a rule that says nothing about the address."""
    NO_ADDRESS = "no-address"
    """The relay refused the address for good."""
    UNWANTED = "unwanted"
    """The relay refused the e-mail itself for good."""


class DeliveryResult(msgspec.Struct, frozen=True):
    """The relay's reply to an e-mail."""

    delivery_status: DeliveryStatus
    reply: str = ""
    """The reply as one printable line; empty when the relay has accepted the e-mail."""

    @property
    def reply_status(self) -> str:
        """Return the reply's numbers alone, because a log must not repeat the address."""
        found = _STATUS.match(self.reply)
        return found[0] if found else "no reply"


class SmtpSession:
    """An open session with the relay."""

    def __init__(self, smtp: smtplib.SMTP) -> None:
        self._smtp = smtp

    def send(self, sender: str, to: str, data: bytes) -> DeliveryResult:
        """Send one e-mail; with an empty `sender` it is never returned. `BrokenSessionError`."""
        try:
            with LIVENESS.waiting():
                self._smtp.sendmail(sender, [to], data)
        except smtplib.SMTPRecipientsRefused as refusal:
            return _refusal_result(*refusal.recipients[to], address=True)
        except smtplib.SMTPDataError as refusal:
            return _refusal_result(refusal.smtp_code, refusal.smtp_error, address=False)
        except smtplib.SMTPSenderRefused as refusal:
            return DeliveryResult(
                DeliveryStatus.LATER, _line(refusal.smtp_code, refusal.smtp_error)
            )
        except (smtplib.SMTPException, OSError) as error:
            raise BrokenSessionError(_why(error)) from error
        return DeliveryResult(DeliveryStatus.SENT)


class SmtpRelay:
    """The mail server that sends our mail; `helo` is our name in the greeting."""

    def __init__(self, route: SmtpUrl, helo: str) -> None:
        self._route = route
        self._helo = helo

    @contextmanager
    def session(self) -> Iterator[SmtpSession]:
        """Open a session, ready to send; `RelayDownError` when there can be none."""
        try:
            with LIVENESS.waiting():
                smtp = self._connected()
        except (smtplib.SMTPException, OSError) as error:
            raise RelayDownError(f"{self._route.host_and_port}: {_why(error)}") from error
        try:
            self._enter(smtp)
            yield SmtpSession(smtp)
            with suppress(smtplib.SMTPException, OSError), LIVENESS.waiting():
                smtp.quit()  # its reply does not matter: what was accepted stays accepted
        finally:
            smtp.close()

    def _connected(self) -> smtplib.SMTP:
        route = self._route
        if route.tls:
            return smtplib.SMTP_SSL(
                route.host,
                route.port,
                local_hostname=self._helo,
                timeout=ANSWER_SECONDS,
                context=self._context(),
            )
        return smtplib.SMTP(route.host, route.port, self._helo, ANSWER_SECONDS)

    def _enter(self, smtp: smtplib.SMTP) -> None:
        try:
            with LIVENESS.waiting():
                self._greet(smtp)
        except (smtplib.SMTPException, OSError) as error:
            raise RelayDownError(f"{self._route.host_and_port}: {_why(error)}") from error

    def _greet(self, smtp: smtplib.SMTP) -> None:
        smtp.ehlo_or_helo_if_needed()
        secret = self._route.tls
        if not secret and smtp.has_extn("starttls"):
            smtp.starttls(context=self._context())
            smtp.ehlo_or_helo_if_needed()
            secret = True
        if self._route.user:
            if not secret and not self._route.is_loopback:
                raise RelayDownError(
                    f"{self._route.host_and_port} offers no TLS, and a login is not sent in clear; "
                    "use smtps://, or a relay on this machine"
                )
            smtp.login(self._route.user, self._route.password)

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self._route.is_loopback:
            # a certificate for this machine is self-signed, and nobody is in between
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


def _refusal_result(code: int, reply: bytes | str, *, address: bool) -> DeliveryResult:
    """Return the result for a refusal; `address` is whether it was the reply to the address."""
    said = _line(code, reply)
    if code not in _PERMANENT or code in _LOGIN:
        return DeliveryResult(DeliveryStatus.LATER, said)
    status = said.split(" ")[1:2]
    if status and status[0].startswith("5.7."):
        # a policy: a relay that is set up wrongly says so of every address
        return DeliveryResult(DeliveryStatus.LATER if address else DeliveryStatus.UNWANTED, said)
    if status and status[0].startswith(("5.1.", "5.2.")):
        return DeliveryResult(DeliveryStatus.NO_ADDRESS, said)
    return DeliveryResult(DeliveryStatus.NO_ADDRESS if address else DeliveryStatus.UNWANTED, said)


def _line(code: int, reply: bytes | str) -> str:
    text = reply.decode("ascii", "replace") if isinstance(reply, bytes) else reply
    return f"{code} {clean_reply(text)}".strip()


def clean_reply(text: str) -> str:
    """Return another server's reply as one short line of printable ASCII."""
    shown = "".join(one if " " <= one <= "~" else " " for one in text)
    return " ".join(shown.split())[:_REPLY_LIMIT]


def _why(error: Exception) -> str:
    """Return why a session failed, without the reply to a login, which may repeat it."""
    match error:
        case smtplib.SMTPAuthenticationError():
            return f"it refuses the login ({error.smtp_code})"
        case smtplib.SMTPResponseException():
            return f"it says {_line(error.smtp_code, error.smtp_error)}"
        case ssl.SSLCertVerificationError():
            return f"its certificate can't be trusted: {error.verify_message}"
        case TimeoutError():
            return "it does not answer in time"
        case OSError() if error.strerror:
            return clean_reply(error.strerror)
        case _:
            return clean_reply(str(error)) or type(error).__name__
