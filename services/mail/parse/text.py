"""Removes quotes and signatures from the text of a mail.

Extracts the visible text of a mail that has only HTML, without quotes.

It does not use the standard library's parser, which takes quadratic time on malicious tags. Everything
between `<` and `>` counts as a tag, and the rest is text.

Decodes the bytes of a mail: charsets, encoded words of header fields, invisible characters.

Only charsets that people use in mail are known, because Python's others are slow (`idna`), not for
text (`zlib`), or hide the text (`utf-7`).
"""

import binascii
import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Final

_QUOTED: Final = re.compile(r"[>|]")

_SIGNED: Final = re.compile(r"--[ ]?|_{5,}")

_FOREIGN: Final = re.compile(
    r"(?i:-{2,} ?(original message|forwarded message|urspr\S{1,3}ngliche nachricht|weitergeleitete "
    r"nachricht|message d'origine|mensaje original) ?-{2,}|begin forwarded message:?)"
    r"|\S+/log/s[0-9]{2,}(/receipt)?"
)
"""Lines below which everything was written by somebody else: the head of a mail, and the first line of a
receipt or a checkpoint, whose numbers could be taken for moves."""

_ATTRIBUTION: Final = re.compile(r"(on|am|le|op|el|il|den|em|w dniu) .{4,}", re.IGNORECASE)
"""The beginning of a line that introduces a quote, in some languages; it ends with a colon."""

_WROTE: Final = (
    *("wrote", "schrieb", "a écrit", "schreef", "escribi", "ha scritto", "skrev", "escreveu"),
    "napisał",
)
"""Words that such a line has."""

_ATTRIBUTION_LINES: Final = 3
"""Lines over which mail programs wrap it, at most."""


def unflowed(text: str, *, delete_space: bool) -> str:
    """Return a text of `format=flowed` without its soft line breaks (RFC 3676)."""
    lines: list[list[str]] = []
    soft = False
    for line in text.split("\n"):
        bare = line.removeprefix(" ")
        fixed = line.startswith(">") or bare == "-- "
        if soft and not fixed:
            lines[-1].append(bare)
        else:
            lines.append([bare])
        soft = bare.endswith(" ") and not fixed
        if soft and delete_space:
            lines[-1][-1] = bare[:-1]
    return "\n".join("".join(pieces) for pieces in lines)


def own_lines(text: str) -> list[str]:
    """Return the lines that the sender wrote, up to a signature or a quoted mail."""
    return list(_own(text.split("\n")))


def _own(lines: Sequence[str]) -> Iterator[str]:
    number = 0
    while number < len(lines):
        line = lines[number].rstrip()
        if _SIGNED.fullmatch(line) or _FOREIGN.fullmatch(line.strip()):
            return
        if skipped := _attribution(lines, number):
            number += skipped
            if not _before_quote(lines, number - 1):
                return  # some programs quote without a mark
        else:
            # a quote becomes a blank line, because the texts above and below it are separate
            yield "" if _QUOTED.match(line) else line.strip()
            number += 1


def _attribution(lines: Sequence[str], number: int) -> int:
    """Return over how many lines from this one a quote is introduced; 0 if none is."""
    if lines[number].rstrip().endswith(":") and _before_quote(lines, number):
        return 1
    if not _ATTRIBUTION.match(lines[number]):
        return 0
    joined = ""
    for count in range(1, _ATTRIBUTION_LINES + 1):
        joined += " ".join(lines[number + count - 1 : number + count]).rstrip().lower()
        if joined.endswith(":") and any(word in joined for word in _WROTE):
            return count
    return 0


def _before_quote(lines: Sequence[str], number: int) -> bool:
    below = [line for line in lines[number + 1 : number + 3] if line.strip()]
    return bool(below) and bool(_QUOTED.match(below[0]))


def paragraph(lines: Sequence[str]) -> list[str]:
    """Return the first lines that are not blank, up to one that is."""
    found: list[str] = []
    for line in lines:
        if line:
            found.append(line)
        elif found:
            break
    return found


_PIECE: Final = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>?|[^<]+", re.DOTALL)
_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")

_BREAKING: Final = frozenset(
    (
        *("address", "article", "blockquote", "body", "br", "dd", "div", "dl", "dt", "footer"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main", "ol", "p"),
        *("pre", "section", "table", "td", "th", "tr", "ul"),
    )
)
"""Tags at which a line ends."""

_SILENT: Final = frozenset(("blockquote", "head", "script", "style", "title"))
"""Tags whose content is not what the sender wrote."""

_ROOM: Final = re.compile(r"[ \t\r\n]+")


class _Reader:
    """Collects text, tag by tag."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._silent = ""
        self._depth = 0

    def text(self, text: str) -> None:
        """Add text."""
        if not self._silent:
            self.said.append(_ROOM.sub(" ", unescape(text)))

    def tag(self, name: str, *, closing: bool) -> None:
        """Add a tag; inside a silent one only its own end counts."""
        if self._silent:
            self._depth += (-1 if closing else 1) if name == self._silent else 0
            if not self._depth:
                self._silent = ""
        elif name in _SILENT and not closing:
            self._silent, self._depth = name, 1
        if name in _BREAKING:
            self.said.append("\n")


def strip(html: str) -> str:
    """Return the text of HTML, a line for each visible line, in time linear in its length."""
    reader = _Reader()
    for piece in _PIECE.findall(html):
        tag = _TAG.match(piece)
        if tag is not None:
            reader.tag(tag[2].lower(), closing=bool(tag[1]))
        elif not piece.startswith("<"):
            reader.text(piece)
    return "\n".join(line.strip() for line in "".join(reader.said).split("\n"))


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
