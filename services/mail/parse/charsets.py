"""Decodes the bytes of a mail: charsets, encoded words of header fields, invisible characters.

Only charsets that people use in mail are known, because Python's others are slow (`idna`), not for
text (`zlib`), or hide the text (`utf-7`).
"""

import binascii
import re
from collections.abc import Iterator
from typing import Final

_ISO: Final = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)
_WINDOWS: Final = (*range(1250, 1259), 874)
_OTHERS: Final = (
    *("utf-8", "koi8-r", "koi8-u", "gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc-jp"),
    *("euc-kr", "iso-2022-jp", "macintosh"),
)

_CODECS: Final = {
    **{f"iso-8859-{number}": f"iso8859-{number}" for number in _ISO},
    **{f"windows-{number}": f"cp{number}" for number in _WINDOWS},
    **{name: name for name in _OTHERS},
    # text that is labelled as one of these is often in the larger charset beside it
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "utf8": "utf-8",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "macintosh": "mac-roman",
}

_ENCODED: Final = re.compile(
    r"=\?([A-Za-z0-9._-]{1,40})(?:\*[A-Za-z0-9-]*)?\?([bBqQ])\?([!->@-~]*)\?="
)
_BETWEEN: Final = re.compile(r"(?<=\?=)[ \t]+(?==\?)")

_LINE_ENDS: Final = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_BLANKS: Final = re.compile(r"[\t\xa0\u2000-\u200a\u202f\u205f\u3000]")
_INVISIBLE: Final = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\xad]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class UnknownCharsetError(Exception):
    """Text is in a charset that is not known here; the message is its name, cut short."""


def decode(data: bytes, charset: str) -> str:
    """Return bytes as text; those that are invalid in the charset become U+FFFD."""
    codec = _CODECS.get(charset.lower())
    if codec is None:
        raise UnknownCharsetError(charset[:40])
    return data.decode(codec, "replace")


def decode_header(text: str) -> str:
    """Return a header field with its encoded words decoded; undecodable ones stay as they are."""
    return "".join(_words(_BETWEEN.sub("", text)))


def _words(text: str) -> Iterator[str]:
    end = 0
    for found in _ENCODED.finditer(text):
        yield text[end : found.start()]
        yield _word(found)
        end = found.end()
    yield text[end:]


def _word(found: re.Match[str]) -> str:
    charset, how, text = found.groups()
    try:
        return decode(_decoded(how.lower(), text.encode("ascii")), charset)
    except (UnknownCharsetError, binascii.Error):
        return found[0]


def _decoded(how: str, text: bytes) -> bytes:
    if how == "b":
        return decode_base64(text)
    return binascii.a2b_qp(text, header=True)


def decode_base64(data: bytes) -> bytes:
    """Decode base64, also without its padding; `binascii.Error` if it is not base64."""
    try:
        return binascii.a2b_base64(data)
    except binascii.Error:
        return binascii.a2b_base64(data + b"==")


def plain(text: str) -> str:
    r"""Return a text with `\n` as its only line end, and without invisible characters.

    All blanks become spaces; control characters become U+FFFD.
    """
    text = _LINE_ENDS.sub("\n", text)
    return _CONTROL.sub("\ufffd", _INVISIBLE.sub("", _BLANKS.sub(" ", text)))
