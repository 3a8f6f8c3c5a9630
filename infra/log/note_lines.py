"""The lines of signed texts and proof files: decimal numbers, base64 and hashes, each in one form only."""

import re
from base64 import b64decode, b64encode
from typing import Final

from infra.log.merkle import HASH_SIZE
from infra.log.signed_note import NoteError

_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,18}")


def read_decimal(text: str, what: str) -> int:
    """Return the number that a line has; `NoteError`, naming `what` it should be, for any other text."""
    if not _DECIMAL.fullmatch(text):
        raise NoteError(f"the {what} is a decimal number without leading zeros")
    return int(text)


def read_hash(text: str) -> bytes:
    """Return the hash that a line has in base64; `NoteError` for any other text."""
    found = read_base64(text)
    if len(found) != HASH_SIZE:
        raise NoteError(f"a hash has {HASH_SIZE} bytes, and this one {len(found)}")
    return found


def read_base64(text: str) -> bytes:
    """Return the bytes of a base64 text; `NoteError` if it is not written as `write_base64` does."""
    try:
        found = b64decode(text, validate=True)
    except ValueError as error:
        raise NoteError(f"base64 can't be read: {error}") from None
    if write_base64(found) != text:
        raise NoteError("base64 has stray bits at its end")
    return found


def write_base64(data: bytes) -> str:
    """Return bytes as base64."""
    return b64encode(data).decode()
