"""Parses an inbound mail. Its From header is never trusted; only its commands are read.

`read` turns a mail's bytes into an immutable `ParsedMail`. It does no I/O, raises only `UnfitError`, for
a mail that is refused, and takes under 50 ms for any mail within the limits of
`services.mail.parse.mime`.

Reads what the mail server in front has found out about the sender of a mail (RFC 8601).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from services.mail.parse.mime import Fields, Part, UndecodableError, UnfitError, first, read_parts
from services.mail.parse.text import (
    UnknownCharsetError,
    decode_header,
    own_lines,
    plain,
    strip,
    unflowed,
)

_ID: Final = re.compile(r"\s*<([!-;=?-~]{1,250})>\s*")

_IN_SUBJECT: Final = 998  # characters

_UNFIT: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that a header field must not have; some programs take most of them for a line end."""

_TRACES: Final = frozenset(
    {"authentication-results", "received", "return-path", "delivered-to", "x-original-to"}
)
"""Fields that differ each time a mail is delivered."""

_BULK: Final = frozenset({"auto_reply", "bulk", "junk", "list"})

_BY_PROGRAMS: Final = frozenset(
    {"list-id", "x-autoreply", "x-autorespond", "x-auto-response-suppress"}
)
"""Fields that only lists and programs set, unless they say `no` or `none`."""

_OUT_OF_OFFICE: Final = re.compile(
    r"((re|aw)\s*:\s*)*(auto(matic)?[- ]?(reply|response)|out of (the )?office|abwesen(d|heit)|"
    r"automatische (antwort|abwesenheit)|réponse automatique|absence du bureau|respuesta autom.tica|"
    r"risposta automatica|automatisch antwoord|automatyczna odpowied)",
    re.IGNORECASE,
)
"""The beginning of subjects of answers that mail programs send while their owner is away."""

_FAILED: Final = re.compile(r"5\.[0-9]{1,3}\.[0-9]{1,3}\b")

_LINES: Final = 2_000
"""Lines that are read at most: more than the longest quote has above an answer."""

_REPORTED: Final = 20
"""Recipients of a report that are read, at most."""


class Failure(msgspec.Struct, frozen=True):
    """An address to which a mail server could not deliver."""

    address: str
    why: str
    """The reason in that server's words."""


class ParsedMail(msgspec.Struct, frozen=True):
    """The parts of a mail that count."""

    id: str
    """The Message-ID without its brackets, or a hash of the mail if it has none."""
    identified: bool
    """Whether the mail has an id of its own."""
    subject: str
    """On one line, decoded."""
    lines: tuple[str, ...]
    """The lines that the sender wrote, without quotes, each without blanks around it."""
    automatic: bool
    """Whether a program or a list sent it, so that nobody waits for an answer."""
    results: tuple[str, ...] = ()
    """Verdicts of mail servers on its sender."""
    failed: tuple[Failure, ...] = ()
    """The addresses that the mail, if it is a report, calls permanently unreachable."""
    problem: str = ""
    """Why the text can't be read, as the end of a sentence."""


def read(data: bytes) -> ParsedMail:
    """Read a mail; `UnfitError` for one that breaks the limits."""
    fields, parts = read_parts(data)
    id_ = _ID.fullmatch(first(fields, "message-id"))
    lines, problem = _written(parts)
    subject = _subject(first(fields, "subject"))
    return ParsedMail(
        id=id_[1] if id_ else _hash(fields, parts),
        identified=id_ is not None,
        subject=subject,
        lines=tuple(lines),
        automatic=_is_automatic(fields) or bool(_OUT_OF_OFFICE.match(subject)),
        results=tuple(value for name, value in fields if name == "authentication-results"),
        failed=tuple(_failed(fields, parts)),
        problem=problem,
    )


def _subject(value: str) -> str:
    subject = decode_header(value)
    # encoded words can hide characters that a field could not have in the clear
    if _UNFIT.search(subject):
        raise UnfitError("its subject has a line break or another control character in it")
    return " ".join(plain(subject)[:_IN_SUBJECT].split())


def _hash(fields: Fields, parts: Sequence[Part]) -> str:
    """Return a replacement for a missing id, the same for each delivery of the same mail."""
    lasting = [f"{name}:{value}" for name, value in fields if name not in _TRACES]
    data = msgspec.msgpack.encode([lasting, [part.lines for part in parts]])
    return f"{sha256(data).hexdigest()}@nowhere"


def _is_automatic(fields: Fields) -> bool:
    submitted = first(fields, "auto-submitted").partition(";")[0].strip().lower()
    return (
        submitted not in ("", "no")
        or first(fields, "precedence").strip().lower() in _BULK
        or any(
            name in _BY_PROGRAMS and value.strip().lower() not in ("no", "none")
            for name, value in fields
        )
    )


def _written(parts: Sequence[Part]) -> tuple[list[str], str]:
    """Return the lines of the part to read, or why it can't be read."""
    part = _readable(parts)
    if part is None:
        return [], ""
    try:
        return own_lines(_text(part)), ""
    except UnknownCharsetError as error:
        return [], f"its charset {_named(str(error))} is not known here; send it in UTF-8"
    except UndecodableError as error:
        return [], str(error)


def _named(charset: str) -> str:
    return repr(charset) if charset.isascii() and charset.isprintable() else "has no name that"


def _readable(parts: Sequence[Part]) -> Part | None:
    """Return the first part in plain text, or else the first in HTML."""
    shown = [part for part in parts if not part.attached]
    for kind in ("text/plain", "text/html"):
        for part in shown:
            if part.kind == kind:
                return part
    return None


def _text(part: Part) -> str:
    text = _top(plain(part.text()))
    if part.kind == "text/html":
        return _top(plain(strip(text)))
    if part.parameter("format").lower() == "flowed":
        return unflowed(text, delete_space=part.parameter("delsp").lower() == "yes")
    return text


def _top(text: str) -> str:
    return "\n".join(text.split("\n", _LINES)[:_LINES])


def _failed(fields: Fields, parts: Sequence[Part]) -> Iterator[Failure]:
    """Yield the addresses that a mail server's report calls permanently unreachable."""
    if not first(fields, "content-type").strip().lower().startswith("multipart/report"):
        return
    for part in parts:
        if part.kind == "message/delivery-status":
            yield from _unreachable(_groups(part.lines))


def _groups(lines: Sequence[bytes]) -> Iterator[dict[str, str]]:
    """Yield the fields of each recipient of a report, after those of the report itself."""
    group: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("utf-8", "replace").partition(":")
        if colon:
            group.setdefault(name.strip().lower(), value.strip())
        elif not line.strip():
            yield group
            group = {}
    yield group


def _unreachable(groups: Iterator[dict[str, str]]) -> Iterator[Failure]:
    recipients = [group for group in groups if "final-recipient" in group]
    for group in recipients[:_REPORTED]:
        status = group.get("status", "")
        if _FAILED.match(status) and group.get("action", "").lower() == "failed":
            address = group.get("original-recipient", group["final-recipient"])
            why = group.get("diagnostic-code", status)
            yield Failure(_after_type(address), _after_type(why))


def _after_type(value: str) -> str:
    """Return the value after the `rfc822;` or `smtp;` of a report's field."""
    return value.rpartition(";")[2].strip()


_SIDE_TEXT: Final = re.compile(r'"[^"]*"|\([^"()]*\)')
"""A quoted text or a comment: both may have words of the sender's choice in them."""

_DEEPEST: Final = 3
"""Comments within each other, at most."""

_PASSED: Final = re.compile(
    r"\s*(?:spf\s*=\s*pass\b.*\bsmtp\.mailfrom|dkim\s*=\s*pass\b.*\bheader\.d|"
    r"dmarc\s*=\s*pass\b.*\bheader\.from)\s*=\s*(?:[^\s@;=]*@)?([a-z0-9.-]+)\s*(?:\s.*)?"
)
"""A method that passed, and the domain for which it did."""


def vouches(results: Iterable[str], authserv: str, sender: str) -> bool:
    """Return whether one of the headers, of the server of this name, shows that a mail is its sender's.

    It does if SPF, DKIM or DMARC passed for the domain of `sender`, or one above it.
    """
    domain = f".{sender.rpartition('@')[2].lower()}"
    return any(domain.endswith(f".{one}") for value in results for one in _domains(value, authserv))


def _domains(value: str, authserv: str) -> list[str]:
    if "\\" in value:  # with it the end of a quoted text is not what it seems
        return []
    for _ in range(_DEEPEST):
        value = _SIDE_TEXT.sub(" ", value)
    server, *methods = value.lower().split(";")
    if server.split()[:1] != [authserv.lower()] or any(sign in value for sign in '"()'):
        return []
    return [found[1] for found in map(_PASSED.fullmatch, methods) if found]
