"""Validation of userids, passwords and mail addresses; each is refused with its own code."""

import re
from collections.abc import Sequence
from typing import Final

from domain.errors import Code, Refusal
from infra.people.accounts.record import MailAddress

PASSWORD_LENGTHS: Final = range(6, 129)

RESERVED: Final = frozenset({"active", "all", "inactive", "next"})
"""Words of the command language where a userid is allowed as well."""

MOST_ADDRESSES: Final = 5
"""Most mail addresses of one account."""

ADDRESS_LENGTH: Final = 254
"""Most characters of a mail address, because SMTP carries no longer one."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,19}")  # before lowering: no Kelvin sign

# RFC 5321 without quoted names, comments and address literals, which many programs can't handle
_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS: Final = re.compile(
    rf"(?=[^@]{{1,64}}@){_ATOM}(?:\.{_ATOM})*@(?:{_LABEL}\.)+(?![0-9]+\Z){_LABEL}"
)


def is_name(text: str) -> bool:
    """Return whether a text has the form of a userid, in upper or lower case."""
    return _NAME.fullmatch(text) is not None


def read_name(text: str) -> str:
    """Return the stored form of a new userid; `bad-name` for a bad one."""
    if not is_name(text):
        raise Refusal(
            Code.BAD_NAME,
            f"{text[:24]!r} is no userid: a letter, then 1 to 19 letters, digits, - or _",
        )
    name = text.lower()
    if name in RESERVED:
        raise Refusal(
            Code.BAD_NAME, f"{name!r} is a word of the command language; choose another userid"
        )
    return name


def check_password(password: str) -> None:
    """Refuse a bad password as `bad-password`; the sentence does not repeat it."""
    if len(password) not in PASSWORD_LENGTHS:
        raise Refusal(
            Code.BAD_PASSWORD,
            f"a password has {PASSWORD_LENGTHS[0]} to {PASSWORD_LENGTHS[-1]} characters, "
            f"not {len(password)}",
        )
    # that includes half a surrogate pair, which print and mail can't carry
    if " " in password or not password.isprintable():
        raise Refusal(Code.BAD_PASSWORD, "a password has no blanks and no control characters")


def read_address(text: str) -> str:
    """Return a plain mail address as it was written; `bad-address` for a bad one."""
    if len(text) > ADDRESS_LENGTH:
        raise _bad_address(
            f"a mail address has at most {ADDRESS_LENGTH} characters, not {len(text)}"
        )
    shown = repr(text if len(text) <= 60 else f"{text[:60]}...")  # noqa: PLR2004 - a line's worth
    if not text.isascii():
        raise _bad_address(
            f"{shown} has letters that not every mail server takes; "
            "use ASCII only, and write the domain in its xn-- form"
        )
    if not _ADDRESS.fullmatch(text):
        raise _bad_address(
            f"{shown} is no plain mail address; "
            "write it like name@example.org, without display name, quotes or comments"
        )
    return text


def read_addresses(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the mail addresses of one command; `bad-address` for a bad, a repeated or too many."""
    read = tuple(read_address(text) for text in texts)
    seen: set[str] = set()
    for address in read:
        if mailbox(address) in seen:
            raise _bad_address(f"{address!r} is given twice; give each mail address once")
        seen.add(mailbox(address))
    check_count(len(read))
    return read


def check_count(count: int) -> None:
    """Refuse, as `bad-address`, more addresses than an account may have."""
    if count > MOST_ADDRESSES:
        raise _bad_address(f"an account has at most {MOST_ADDRESSES} mail addresses, not {count}")


def mailbox(address: str) -> str:
    """Return an address with its domain in lower case, because case is ignored there."""
    local, _, domain = address.rpartition("@")
    return f"{local}@{domain.lower()}"


def merge_addresses(old: Sequence[MailAddress], new: Sequence[str]) -> tuple[MailAddress, ...]:
    """Return the old addresses as they are, then the new ones that are not among them."""
    known = {mailbox(one.address) for one in old}
    added = [MailAddress(text) for text in new if mailbox(text) not in known]
    check_count(len(old) + len(added))
    return (*old, *added)


def replace_addresses(old: Sequence[MailAddress], new: Sequence[str]) -> tuple[MailAddress, ...]:
    """Return the new addresses; those verified before stay verified."""
    verified = {mailbox(one.address) for one in old if one.verified}
    return tuple(MailAddress(text, mailbox(text) in verified) for text in new)


def _bad_address(sentence: str) -> Refusal:
    return Refusal(Code.BAD_ADDRESS, sentence)
