"""The text of a token: `mp_`, 43 random characters, 6 of a checksum.

The checksum finds a token that was cut off or mistyped without asking the server; it is no protection.
"""

import os
import re
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Final
from zlib import crc32

from domain.errors import Code, Refusal

PREFIX: Final = "mp_"
"""Prefix of a token, so that scanners recognise a leaked one."""

LENGTH: Final = 52
"""Characters of a token."""

_RANDOM_BYTES: Final = 32

_CHECKSUM: Final = 6

_FORM: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{{LENGTH - len(PREFIX)}}}")


def make_token() -> str:
    """Make a token's text."""
    return _with_checksum(PREFIX + _base64(os.urandom(_RANDOM_BYTES)))


def digest_of(text: str) -> bytes:
    """Return the SHA-256 of a token's text; `unknown-token` for a text that can't be a token.

    The sentence of a refusal repeats nothing of the text.
    """
    if not text.startswith(PREFIX):
        raise _unknown(f"a token begins with {PREFIX}; give it whole")
    if len(text) != LENGTH:
        raise _unknown(f"a token has {LENGTH} characters, this one {len(text)}; give it whole")
    if not _FORM.fullmatch(text) or _with_checksum(text[:-_CHECKSUM]) != text:
        raise _unknown("the last characters of the token do not fit the others; copy it again")
    return sha256(text.encode()).digest()


def _unknown(sentence: str) -> Refusal:
    return Refusal(Code.UNKNOWN_TOKEN, sentence)


def _with_checksum(body: str) -> str:
    # CRC-32 finds every wrong character, and every two neighbours that were swapped
    return body + _base64(crc32(body.encode()).to_bytes(4))


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
