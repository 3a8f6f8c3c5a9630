"""Reads the setting `relay`, an SMTP URL, and the form of `mail_domain`. Imports nothing slow, because the settings import it."""

import ipaddress
from typing import Annotated, Final
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

MailDomain = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\Z",
        max_length=253,
    ),
]
"""The part of a mail address after the @."""

_PORTS: Final = {"smtp": 25, "smtps": 465}


class SmtpUrl(msgspec.Struct, frozen=True):
    """The mail server that sends our mail."""

    host: str
    port: int
    tls: bool
    """Whether TLS starts with the first byte; else STARTTLS is used if it is offered."""
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        """Return host and port, without the login."""
        return f"Route({self.host_and_port!r})"

    @property
    def host_and_port(self) -> str:
        """Host and port, as a log may have them."""
        return f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Return whether the server is on this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_smtp_url(url: str) -> SmtpUrl:
    """Read a URL; ValueError, with a sentence that repeats nothing of it, for a bad one."""
    parts = _split(url)
    if parts.scheme not in _PORTS:
        raise ValueError("a relay's URL starts with smtp:// or smtps://")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("a relay's URL ends after its port")
    try:
        port = parts.port or _PORTS[parts.scheme]
    except ValueError as error:
        raise ValueError("the port in a relay's URL is a number up to 65535") from error
    if not parts.hostname:
        raise ValueError("a relay's URL names a host, as in smtp://127.0.0.1:25")
    if bool(parts.username) != bool(parts.password):
        raise ValueError(
            "a relay's login has a user and a password, as in smtp://user:password@host"
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not f"{user}{password}".isprintable():
        raise ValueError("a relay's login has no control characters")
    return SmtpUrl(parts.hostname, port, parts.scheme == "smtps", user, password)


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        # the library's own sentence may repeat the password
        raise ValueError("a relay's URL is like smtp://127.0.0.1:25") from None
