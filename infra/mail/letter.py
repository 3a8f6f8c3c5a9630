"""A letter as it waits to be sent, and what may stand in its headers.

Header fields are checked here, before anything is stored, and not left to the library that writes
them: a line break of any kind in a value would begin a header of the sender's own choice.
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
"""Fields a letter may bring; all others are made when it is sent."""

VALUE_LIMIT: Final = 900
"""Characters of a header's value; a line of mail has at most 998."""

SUBJECT_LIMIT: Final = 200

_ID: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,180}@[A-Za-z0-9.:-]{1,255}")
_ADDRESS: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}")
_PRINTED: Final = re.compile(r"[\x20-\x7e]*")


class UnfitLetterError(ValueError):
    """A letter that can't be sent; the message says what of it, and repeats nothing foreign."""


class Purpose(StrEnum):
    """What a letter is, and so whom it may go to."""

    ANSWER = "answer"
    """To a mail that came: it goes wherever that came from, and nothing comes back."""
    NOTICE = "notice"
    """To a player: only to an address that is proven, and not after a sign-off."""
    CODE = "code"
    """To an address that is not proven yet."""


class Letter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A letter to one address."""

    id: str
    """The Message-ID, without the angle brackets; the same whenever it is sent again."""
    to: str
    subject: str
    body: str
    """Plain text; lines end with a newline."""
    headers: tuple[tuple[str, str], ...] = ()
    """Of `HEADERS`. It comes from the address in Reply-To, or else from the server's own."""
    not_before: int = 0
    """When it may be sent at the earliest, ms."""
    purpose: Purpose = Purpose.ANSWER
    account: AccountId = b""
    """Whose address it goes to; empty for an answer."""

    def header(self, name: str) -> str:
        """Return a header's value, empty where there is none."""
        return dict(self.headers).get(name, "")


def check_letter(letter: Letter) -> None:
    """Raise `UnfitLetterError` for a letter that can't be sent as it is."""
    if not _ID.fullmatch(letter.id):
        raise UnfitLetterError("its id is none that a Message-ID can have")
    check_recipient(letter.to)
    if letter.subject != fit_subject(letter.subject):
        raise UnfitLetterError("its subject has characters that no header may have")
    if bool(letter.account) != (letter.purpose != Purpose.ANSWER):
        raise UnfitLetterError("only a notice or a code is an account's")
    _check_headers(letter)


def check_recipient(address: str) -> None:
    """Raise `UnfitLetterError` for what no mail can be sent to."""
    if not _ADDRESS.fullmatch(address):
        raise UnfitLetterError("its recipient is no plain mail address")


def _check_headers(letter: Letter) -> None:
    names = [name for name, _ in letter.headers]
    if len(set(names)) < len(names):
        raise UnfitLetterError("a header is given twice")
    for name, value in letter.headers:
        if name not in HEADERS:
            raise UnfitLetterError(f"a letter has no header {name[:40]!r} of its own")
        if len(value) > VALUE_LIMIT or not _PRINTED.fullmatch(value):
            raise UnfitLetterError(f"its {name} is too long, or not of printable ASCII")
    sender = letter.header("Reply-To")
    if sender and not _ADDRESS.fullmatch(sender):
        raise UnfitLetterError("its Reply-To is no plain mail address")


def fit_subject(text: str) -> str:
    """Return a subject that can be sent: no control or formatting characters, one line, not long."""
    shown = "".join(" " if _is_unfit(character) else character for character in text)
    return " ".join(shown.split())[:SUBJECT_LIMIT].rstrip()


def _is_unfit(character: str) -> bool:
    """Tell controls, surrogates, formatting, private and line separators from text."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def references(ids: Iterable[str]) -> str:
    """Write ids as References and In-Reply-To have them."""
    return " ".join(f"<{one}>" for one in ids)
