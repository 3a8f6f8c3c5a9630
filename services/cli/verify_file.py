"""`matchpost verify FILE`: check a match document, a receipt or a proof, without any server."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from infra.audit.check_file import check_file
from infra.audit.faults import NotCheckableError
from infra.audit.match_document import DOCUMENT_LIMIT
from infra.log.signed_note import NoteError, VerifierKey
from services.cli.verify_report import VerifyReport, not_checkable

STANDARD_INPUT: Final = "-"

_KEYS_LIMIT: Final = 1 << 20
"""The most bytes of a file with keys."""


def names_file(what: str) -> bool:
    """Return whether a word names a file, and no board: it is a path, or there is such a file."""
    if what.isascii() and what.isdecimal():
        return False
    return what == STANDARD_INPUT or "/" in what or "." in what or Path(what).exists()


def run_file(name: str, keys: Sequence[str]) -> int:
    """Check a file, print what holds and what is not proven, and return the exit code.

    0 if it holds, 1 if it does not, 2 if it can't be checked.
    """
    return _check(name, keys).print()


def _check(name: str, keys: Sequence[str]) -> VerifyReport:
    try:
        checked = check_file(_read(name), [key for one in keys for key in read_keys(one)])
    except NotCheckableError as error:
        return not_checkable(_shown(name), error)
    verdict = checked.verdict
    if verdict.fault:
        faults = [f"{checked.name} does not hold: {verdict.fault}"]
        return VerifyReport(verdict.holds, verdict.limits, faults)
    return VerifyReport(verdict.holds, verdict.limits, summary=f"{checked.name} holds")


def read_keys(text: str) -> list[VerifierKey]:
    """Return a key, or those in a file, one a line; `NotCheckableError` if it is neither."""
    try:
        return [VerifierKey.parse(text)]
    except NoteError as error:
        if not Path(text).exists():
            raise NotCheckableError(
                f"{text[:80]!r} is neither a key nor a file with keys: {error}"
            ) from None
    lines = _read(text, _KEYS_LIMIT).decode(errors="replace").split()
    try:
        found = [VerifierKey.parse(line) for line in lines]
    except NoteError as error:
        raise NotCheckableError(f"{text} isn't a file with keys: {error}") from None
    if not found:
        raise NotCheckableError(f"{text} has no key in it")
    return found


def _read(name: str, limit: int = DOCUMENT_LIMIT) -> bytes:
    """Return a file's bytes; `NotCheckableError` if it can't be read or is too long."""
    try:
        if name == STANDARD_INPUT:
            data = _up_to(sys.stdin.buffer, limit)
        else:
            with Path(name).open("rb") as file:
                data = _up_to(file, limit)
    except OSError as error:
        raise NotCheckableError(f"{_shown(name)}: {error.strerror or error}") from None
    if len(data) > limit:
        raise NotCheckableError(f"{_shown(name)} has more than {limit} bytes")
    return data


def _up_to(file: BinaryIO, limit: int) -> bytes:
    return file.read(limit + 1)


def _shown(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else name
