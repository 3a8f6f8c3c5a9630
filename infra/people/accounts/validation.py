"""Validation of userids and mail addresses; each is refused with its own code."""

import re
from collections.abc import Sequence
from typing import Final

from domain.errors import Code, Refusal
from domain.sentences import Text
from infra.people.accounts.record import MailAddress
from infra.sentences import SAY

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


_SUBADDRESS: Final = re.compile(r"[+-]")


def is_name(text: str) -> bool:
    """Return whether a text has the form of a userid, in upper or lower case."""
    return _NAME.fullmatch(text) is not None


def read_name(text: str) -> str:
    """Return the stored form of a new userid; `bad-name` for a bad one."""
    if not is_name(text):
        raise Refusal(
            Code.BAD_NAME,
            SAY("name-form", name=text[:24]),
        )
    return text.lower()


def read_address(text: str) -> str:
    """Return a plain mail address as it was written; `bad-address` for a bad one."""
    if len(text) > ADDRESS_LENGTH:
        raise _bad_address(SAY("address-length", most=ADDRESS_LENGTH, length=len(text)))
    shown = repr(text if len(text) <= 60 else f"{text[:60]}...")  # noqa: PLR2004 - a line's worth
    if not text.isascii():
        raise _bad_address(SAY("address-ascii", address=shown))
    if not _ADDRESS.fullmatch(text):
        raise _bad_address(SAY("address-form", address=shown))
    return text


def read_addresses(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the mail addresses of one command; `bad-address` for a bad, a repeated or too many."""
    read = tuple(read_address(text) for text in texts)
    seen: set[str] = set()
    for address in read:
        if mailbox(address) in seen:
            raise _bad_address(SAY("address-twice", address=address))
        seen.add(mailbox(address))
    check_count(len(read))
    return read


def check_count(count: int) -> None:
    """Refuse, as `bad-address`, more addresses than an account may have."""
    if count > MOST_ADDRESSES:
        raise _bad_address(SAY("addresses", most=MOST_ADDRESSES, count=count))


def mailbox(address: str) -> str:
    """Return an address with its domain in lower case, because case is ignored there."""
    local, _, domain = address.rpartition("@")
    return f"{local}@{domain.lower()}"


def folded_mailbox(address: str) -> str:
    """Return what the spellings of one mailbox have in common, for counts of mail to it.

    Many providers ignore case, dots, and what follows a `+` or `-`. Two mailboxes may share a count.
    """
    local, _, domain = address.lower().rpartition("@")
    return f"{_SUBADDRESS.split(local, 1)[0].replace('.', '') or local}@{domain}"


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


def _bad_address(text: Text) -> Refusal:
    return Refusal(Code.BAD_ADDRESS, text)
