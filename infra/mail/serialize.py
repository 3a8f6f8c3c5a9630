"""Serializes an e-mail: headers, an empty line, plain text, HTML with a picture, and attached text files.

The headers are written here, one line each, from values that were checked; only a subject that is not
ASCII is folded. The library encodes the text and nothing else, because it breaks long ids, and has had
errors by which a value started a header.
"""

import re
from datetime import UTC, datetime
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256
from typing import Final

from infra.mail.addresses import ServerAddresses
from infra.mail.email import PICTURE, Email, InvalidEmailError, Purpose, check_email

_LINE: Final = 990
"""Most characters of a line."""

_POLICY: Final = SMTP.clone(max_line_length=_LINE, cte_type="7bit")

_UTF8: Final = {"charset": "utf-8"}

_HEADER: Final = re.compile(rb"[A-Za-z-]+:(?: [\x20-\x7e]*)?")


def serialize(email: Email, addresses: ServerAddresses, since: int, picture: bytes = b"") -> bytes:
    """Return an e-mail's bytes, the same each time; `since` is when it was queued, in ms.

    Without a `picture`, a PNG, it has no HTML. `InvalidEmailError` if the headers are not exactly those
    of the e-mail.
    """
    check_email(email)
    head = [f"{name}: {value}" for name, value in _fields(email, addresses, since)]
    message = EmailMessage(_POLICY)
    message.set_content(email.body)
    if email.html and picture:
        _add_html(message, email.html, picture)
    for one in email.attachments:
        # as bytes, because of a text the library changes the line ends
        data = one.text.encode()
        message.add_attachment(data, "text", "plain", cte="base64", filename=one.name, params=_UTF8)
    for number, part in enumerate(part for part in message.walk() if part.is_multipart()):
        # one by chance would differ each time
        part.set_boundary(_boundary(email, number))
    data = "".join(f"{line}\r\n" for line in head).encode("ascii") + message.as_bytes()
    _check_headers(data, len(head) + len(message.keys()))
    return data


def _add_html(message: EmailMessage, html: str, picture: bytes) -> None:
    """Add the HTML as the last alternative, which mail programs prefer, with its picture."""
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    shown = list(message.iter_parts())[-1]
    shown.add_related(picture, "image", "png", cid=f"<{PICTURE}>", disposition="inline")


def _boundary(email: Email, number: int) -> str:
    """Return a line that no part of an e-mail has, because it is a hash of all of them."""
    parts = [email.id, email.body, *(one.text for one in email.attachments), email.html]
    parts = parts[:-1] if not number and not email.html else [*parts, str(number)]
    return sha256("\0".join(parts).encode()).hexdigest()


def envelope_sender(email: Email, addresses: ServerAddresses) -> str:
    """Return the address to which an undeliverable e-mail is returned; empty for none."""
    if email.purpose == Purpose.ANSWER:
        return ""  # two servers must not answer each other's answers
    return addresses.bounce(email.account, email.to)


def _fields(email: Email, addresses: ServerAddresses, since: int) -> list[tuple[str, str]]:
    # From is repeated wherever a mail is forwarded or quoted, so it has no address that proves anything
    replies = [] if email.header("Reply-To") else [("Reply-To", addresses.server_address)]
    return [
        ("From", f"matchpost <{addresses.display_address}>"),
        ("To", email.to),
        ("Subject", _subject(email.subject)),
        ("Date", format_datetime(datetime.fromtimestamp(since // 1000, UTC))),
        ("Message-ID", f"<{email.id}>"),
        *replies,
        *email.headers,
    ]


def _subject(text: str) -> str:
    """Encode a subject that is not ASCII, or that would be read as encoded."""
    if text.isascii() and "=?" not in text:
        return text
    return Header(text, "utf-8", header_name="Subject").encode(linesep="\r\n")


def _check_headers(data: bytes, count: int) -> None:
    head = data.partition(b"\r\n\r\n")[0].replace(b"\r\n ", b" ").split(b"\r\n")
    if len(head) != count or not all(map(_HEADER.fullmatch, head)):
        raise InvalidEmailError("its serialized headers are not those that were set")
