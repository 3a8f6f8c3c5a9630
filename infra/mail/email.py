"""An e-mail in the outbox, and the check of its headers.

Header fields are checked here, before anything is stored, and not by the library that writes them,
because a line break of any kind in a value would start a header of the sender's choice.
"""

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from domain.match.events import AccountId

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
