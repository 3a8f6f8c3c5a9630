"""An e-mail in the outbox, and the check of its headers.

Header fields are checked here, before anything is stored, and not by the library that writes them,
because a line break of any kind in a value would start a header of the sender's choice.

Serializes an e-mail: headers, an empty line, plain text, HTML with a picture, and attached text files.

The headers are written here, one line each, from values that were checked; only a subject that is not
ASCII is folded. The library encodes the text and nothing else, because it breaks long ids, and has had
errors by which a value started a header.
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, formataddr
from enum import StrEnum
from hashlib import sha256
from typing import Final

import msgspec

from domain.records import AccountId
from infra.mail.addresses import ServerAddresses
from infra.people.masthead import USUAL_NAME

HEADERS: Final = frozenset(
    {
        "In-Reply-To",
        "References",
        "Auto-Submitted",
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
        "Reply-To",
    }
)
"""Fields that an e-mail may have; all others are made when it is sent."""

PICTURE: Final = "board@matchpost"
"""The Content-ID of the picture in an e-mail."""

VALUE_LIMIT: Final = 900
"""Characters of a header's value; a line of mail has at most 998."""

SUBJECT_LIMIT: Final = 200

_ID: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,180}@[A-Za-z0-9.:-]{1,255}")
_ADDRESS: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}")
_FILE_NAME: Final = re.compile(r"[a-z0-9-]{1,40}\.txt")
_PRINTED: Final = re.compile(r"[\x20-\x7e]*")


class InvalidEmailError(ValueError):
    """An e-mail that can't be sent; the message says why, and repeats no foreign text."""


class Purpose(StrEnum):
    """The kind of an e-mail, which decides where it may be sent."""

    ANSWER = "answer"
    """A reply to a mail: it goes to the sender, and is not returned when undeliverable."""
    NOTICE = "notice"
    """To a player: only to a verified address, and not after a sign-off."""
    RESET = "reset"
    """With a link for a new password: to a verified address, also after a sign-off."""
    CODE = "code"
    """To an address that is not verified yet."""


class Attachment(msgspec.Struct, frozen=True, array_like=True):
    """A text file in an e-mail."""

    name: str
    text: str
    """In UTF-8; its lines end as they are, because a signature may depend on it."""


class Email(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An e-mail to one address."""

    id: str
    """The Message-ID, without the angle brackets; the same whenever it is sent again."""
    to: str
    subject: str
    body: str
    """Plain text; lines end with a newline."""
    headers: tuple[tuple[str, str], ...] = ()
    """Of `HEADERS`. Without Reply-To replies go to the server's own address."""
    not_before: int = 0
    """When it may be sent at the earliest, ms."""
    purpose: Purpose = Purpose.ANSWER
    account: AccountId = b""
    """The account whose address it goes to; empty for an answer."""
    attachments: tuple[Attachment, ...] = ()
    html: str = ""
    """The text in HTML, which needs the picture."""
    drawing: bytes = b""
    """The picture `PICTURE`, which is painted when the e-mail is sent."""

    def header(self, name: str) -> str:
        """Return a header's value, empty if there is none."""
        return dict(self.headers).get(name, "")


def check_email(email: Email) -> None:
    """Raise `InvalidEmailError` for an e-mail that can't be sent as it is."""
    if not _ID.fullmatch(email.id):
        raise InvalidEmailError("its id can't be a Message-ID")
    check_recipient(email.to)
    if email.subject != clean_subject(email.subject):
        raise InvalidEmailError("its subject has characters that no header may have")
    if bool(email.account) != (email.purpose != Purpose.ANSWER):
        raise InvalidEmailError("only a notice or a code is an account's")
    if not all(_FILE_NAME.fullmatch(one.name) for one in email.attachments):
        raise InvalidEmailError("the name of an attachment can't be in a header")
    _check_headers(email)


def check_recipient(address: str) -> None:
    """Raise `InvalidEmailError` for an address that no mail can be sent to."""
    if not is_recipient(address):
        raise InvalidEmailError("its recipient isn't a plain e-mail address")


def is_recipient(address: str) -> bool:
    """Return whether mail can be sent to an address."""
    return bool(_ADDRESS.fullmatch(address))


def _check_headers(email: Email) -> None:
    names = [name for name, _ in email.headers]
    if len(set(names)) < len(names):
        raise InvalidEmailError("a header is given twice")
    for name, value in email.headers:
        if name not in HEADERS:
            raise InvalidEmailError(f"an e-mail can't set the header {name[:40]!r}")
        if len(value) > VALUE_LIMIT or not _PRINTED.fullmatch(value):
            raise InvalidEmailError(f"its {name} is too long, or not of printable ASCII")
    sender = email.header("Reply-To")
    if sender and not _ADDRESS.fullmatch(sender):
        raise InvalidEmailError("its Reply-To isn't a plain e-mail address")


def clean_subject(text: str) -> str:
    """Return a subject as one short line without control and formatting characters."""
    shown = "".join(" " if _is_not_allowed(character) else character for character in text)
    return " ".join(shown.split())[:SUBJECT_LIMIT].rstrip()


def _is_not_allowed(character: str) -> bool:
    """Return whether a character is a control, surrogate, formatting, private or separator one."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def references(ids: Iterable[str]) -> str:
    """Return ids in the form of References and In-Reply-To."""
    return " ".join(f"<{one}>" for one in ids)


_LINE: Final = 990
"""Most characters of a line."""

_POLICY: Final = SMTP.clone(max_line_length=_LINE, cte_type="7bit")

_UTF8: Final = {"charset": "utf-8"}

_HEADER: Final = re.compile(rb"[A-Za-z-]+:(?: [\x20-\x7e]*)?")


def serialize(
    email: Email,
    addresses: ServerAddresses,
    since: int,
    picture: bytes = b"",
    sender: str = USUAL_NAME,
) -> bytes:
    """Return an e-mail's bytes, the same each time; `since` is when it was queued, in ms, and `sender` the site's name.

    Without a `picture`, a PNG, it has no HTML. `InvalidEmailError` if the headers are not exactly those
    of the e-mail.
    """
    check_email(email)
    head = [f"{name}: {value}" for name, value in _fields(email, addresses, since, sender)]
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
    _check_serialized(data, len(head) + len(message.keys()))
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


def _fields(
    email: Email, addresses: ServerAddresses, since: int, sender: str
) -> list[tuple[str, str]]:
    # From is repeated wherever a mail is forwarded or quoted, so it has no address that proves anything
    replies = [] if email.header("Reply-To") else [("Reply-To", addresses.server_address)]
    return [
        ("From", formataddr((sender, addresses.display_address))),
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


def _check_serialized(data: bytes, count: int) -> None:
    head = data.partition(b"\r\n\r\n")[0].replace(b"\r\n ", b" ").split(b"\r\n")
    if len(head) != count or not all(map(_HEADER.fullmatch, head)):
        raise InvalidEmailError("its serialized headers are not those that were set")
