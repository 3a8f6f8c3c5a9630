"""A real SMTP server that takes mail as a relay does, and does as it is told."""

import ssl
import subprocess
from collections.abc import Callable
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Any, Self, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

from bench.free_ports import free_port

LOGIN = LoginPassword(b"me", b"s3cret")


class Sink:
    """Takes mail on a port; each reply can be set. `with` starts and stops it."""

    def __init__(self, port: int = 0, **options: Any) -> None:
        self.port = port or free_port()
        self._options = options
        self._controller: Controller | None = None
        self.envelopes: list[Envelope] = []
        self._read: list[tuple[str, EmailMessage]] = []
        self.recipients: list[str] = []
        self.to_recipient: Callable[[str], str] = lambda _: "250 OK"
        self.to_data: Callable[[], str] = lambda: "250 OK"
        self.to_sender = "250 OK"
        self.hangs_up: Callable[[str], bool] = lambda _: False
        """Whether the connection ends at a recipient, without a word."""
        self.logins = 0

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Self:
        self._controller = Controller(
            self,
            hostname="127.0.0.1",
            port=self.port,
            ready_timeout=20,
            authenticator=self._authenticate,
            **self._options,
        )
        self._controller.start()
        return self

    def stop(self) -> None:
        if self._controller is not None:
            self._controller.stop()
            self._controller = None

    @property
    def messages(self) -> list[EmailMessage]:
        return [message for _, message in self._all()]

    def _all(self) -> list[tuple[str, EmailMessage]]:
        """Give all with whom they are for; each is read once, since it is asked for very often."""
        for envelope in self.envelopes[len(self._read) :]:
            content = cast("bytes", envelope.content)
            message = cast("EmailMessage", message_from_bytes(content, policy=SMTP))
            self._read.append((str(message["To"]), message))
        return list(self._read)

    def to(self, address: str) -> list[EmailMessage]:
        """What was taken for an address, in order."""
        return [message for to, message in self._all() if to == address]

    def _authenticate(self, *given: Any) -> AuthResult:
        *_, data = given
        self.logins += 1
        return AuthResult(success=data == LOGIN, handled=False)

    # what aiosmtpd calls

    async def handle_MAIL(  # noqa: N802
        self, _server: Any, _session: Any, envelope: Envelope, address: str, options: Any
    ) -> str:
        if self.to_sender.startswith("250"):
            envelope.mail_from = address
            envelope.mail_options.extend(options)
        return self.to_sender

    async def handle_RCPT(  # noqa: N802
        self, server: Any, _session: Any, envelope: Envelope, address: str, _options: Any
    ) -> str:
        self.recipients.append(address)
        if self.hangs_up(address):
            server.transport.abort()
        reply = self.to_recipient(address)
        if reply.startswith("250"):
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(  # noqa: N802
        self, _server: Any, _session: Any, envelope: Envelope
    ) -> str:
        reply = self.to_data()
        if reply.startswith("250"):
            self.envelopes.append(envelope)
        return reply


def certificate(folder: Path) -> ssl.SSLContext:
    """A certificate that this machine made itself, as a server shows it."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context
