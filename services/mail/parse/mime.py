"""Parses a mail's bytes into header fields and parts, within limits.

The parser is our own, because the standard library's has no limits, is slow on malicious mails, and
in this Python lets line breaks into header fields. A mail within the limits is parsed in time linear
in its size, with at most `NESTING` nested calls.
"""

import binascii
import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from services.mail.parse.text import decode, decode_base64

SIZE: Final = 64 * 1024
"""Bytes of a mail without its attachments, at most."""

LINE: Final = 998
"""Bytes of a line, at most, without the line end."""

FIELDS: Final = 100
"""Header fields of a mail or of a part, at most."""

PARTS: Final = 20
"""Parts of a mail, at most, including those that contain others."""

NESTING: Final = 5
"""How deep parts may be nested."""

_BARE: Final = re.compile(rb"\r(?!\n)|(?<!\r)\n|\0")
_FIELD: Final = re.compile(rb"([!-9;-~]{1,100})[ \t]*:(.*)", re.DOTALL)
_TYPE: Final = re.compile(r"\s*([\w!#$&^.+-]+/[\w!#$&^.+-]+)", re.ASCII)
_PARAMETER: Final = re.compile(
    r""";\s*([\w!#$%&'+^`|~.-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;"]*)""", re.ASCII
)
_ESCAPED: Final = re.compile(r"\\(.)")
_BOUNDARY: Final = 70  # characters, says RFC 2046
_TYPE_LENGTH: Final = 2_000  # characters of a type with its parameters that are read


class UnfitError(Exception):
    """A mail breaks a limit or a rule; the message says which, in ASCII, for the sender's server."""


class UndecodableError(Exception):
    """A part's encoding is unknown or broken; the message is a sentence."""


Fields = tuple[tuple[str, str], ...]
"""Names in lower case, each with the text after the colon, unfolded and not decoded."""


class Part(msgspec.Struct, frozen=True):
    """A part of a mail that contains no others; a mail without parts is one."""

    fields: Fields
    lines: tuple[bytes, ...]
    """Unchanged, each without its line end."""

    @property
    def kind(self) -> str:
        """The type, such as `text/plain`."""
        return kind_of(self.fields)

    def parameter(self, name: str) -> str:
        """Return a parameter of the type, such as `charset`; empty if there is none."""
        return _parameters(first(self.fields, "content-type")).get(name, "")

    @property
    def attached(self) -> bool:
        """Whether it is a file, and not part of the text."""
        return is_attached(self.fields)

    def text(self) -> str:
        """Return the text; raises `UndecodableError` and `UnknownCharsetError`."""
        return decode(self._bytes(), self.parameter("charset") or "us-ascii")

    def _bytes(self) -> bytes:
        data = b"\r\n".join(self.lines)
        match first(self.fields, "content-transfer-encoding").strip().lower():
            case "" | "7bit" | "8bit" | "binary":
                return data
            case "quoted-printable":
                return binascii.a2b_qp(data)
            case "base64":
                return _base64(data)
            case _:
                raise UndecodableError("its transfer encoding is unknown")


def _base64(data: bytes) -> bytes:
    try:
        return decode_base64(data)
    except binascii.Error:
        raise UndecodableError("its base64 is broken") from None


def first(fields: Fields, name: str) -> str:
    """Return the first field of that name; empty if there is none."""
    return next((value for key, value in fields if key == name), "")


def is_attached(fields: Fields) -> bool:
    """Return whether a part is a file, and not part of the text."""
    return first(fields, "content-disposition").strip().lower().startswith("attachment")


def read_fields(lines: Sequence[bytes]) -> Fields:
    """Return the fields of a header; `UnfitError` if it has too many, or none of their form."""
    return _split(lines)[0]


def boundary_of(fields: Fields) -> str:
    """Return the boundary of a part that holds others; empty for any other part."""
    return (
        _parameters(first(fields, "content-type")).get("boundary", "")
        if _holds_others(fields)
        else ""
    )


def read_parts(data: bytes) -> tuple[Fields, list[Part]]:
    """Return a mail's header fields and its parts in order; `UnfitError` if a limit is exceeded."""
    fields, body = _split(_lines(data))
    parts: list[Part] = []
    for part in _parts(fields, body, 1):
        parts.append(part)
        if len(parts) > PARTS:
            raise UnfitError(f"it has more than {PARTS} parts")
    return fields, [part for part in parts if not _holds_others(part.fields)]


def _lines(data: bytes) -> list[bytes]:
    """Return the lines of a mail; `UnfitError` for a mail that no mail server should deliver."""
    if len(data) > SIZE:
        raise UnfitError(f"it has {len(data)} bytes; at most {SIZE} are allowed")
    if bare := _BARE.search(data):
        what = "a NUL" if bare[0] == b"\0" else "a CR or LF that is no line end"
        raise UnfitError(f"there is {what} in it")
    lines = data.split(b"\r\n")
    if max(map(len, lines)) > LINE:
        raise UnfitError(f"a line has more than {LINE} bytes")
    return lines


def _split(lines: Sequence[bytes]) -> tuple[Fields, Sequence[bytes]]:
    """Return the header fields, and the lines after the blank one that ends them."""
    folded: list[list[bytes]] = []
    end = len(lines)
    for number, line in enumerate(lines):
        if not line:
            end = number
            break
        if line[:1] in b" \t" and folded:
            folded[-1].append(line)
        elif len(folded) < FIELDS:
            folded.append([line])
        else:
            raise UnfitError(f"a header has more than {FIELDS} fields")
    return tuple(_field(b"".join(field)) for field in folded), lines[end + 1 :]


def _field(line: bytes) -> tuple[str, str]:
    found = _FIELD.fullmatch(line)
    if found is None:
        raise UnfitError("a header line is no field")
    return found[1].decode().lower(), _raw(found[2])


def _raw(value: bytes) -> str:
    """Return a field's value, decoded as UTF-8, or else as Latin-1, which old mail may have."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return decode(value, "latin-1")


def _parts(fields: Fields, lines: Sequence[bytes], depth: int) -> Iterator[Part]:
    """Yield a part and all parts in it, at any depth."""
    if not _holds_others(fields):
        yield Part(fields, tuple(lines))
        return
    yield Part(fields, ())
    if depth == NESTING:
        raise UnfitError(f"its parts are nested more than {NESTING} deep")
    boundary = boundary_of(fields)
    if not 1 <= len(boundary) <= _BOUNDARY:
        raise UnfitError("its parts have no boundary")
    for inner in _cut(lines, f"--{boundary}".encode()):
        yield from _parts(*_split(inner), depth + 1)


def _cut(lines: Sequence[bytes], mark: bytes) -> Iterator[Sequence[bytes]]:
    """Yield the lines between boundaries, and those after the last if the end is missing."""
    begin = None
    for number, line in enumerate(lines):
        if not line.startswith(mark) or line.rstrip() not in (mark, mark + b"--"):
            continue
        if begin is not None:
            yield lines[begin:number]
        begin = number + 1
        if line.rstrip() != mark:
            return
    if begin is not None:
        yield lines[begin:]


def _holds_others(fields: Fields) -> bool:
    return kind_of(fields).startswith("multipart/")


def kind_of(fields: Fields) -> str:
    """Return the type of a part, such as `text/plain`."""
    found = _TYPE.match(first(fields, "content-type"))
    return found[1].lower() if found else "text/plain"


def _parameters(value: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, text in _PARAMETER.findall(value[:_TYPE_LENGTH]):
        bare = _ESCAPED.sub(r"\1", text[1:-1]) if text.startswith('"') else text
        found.setdefault(name.lower(), bare)
    return found
