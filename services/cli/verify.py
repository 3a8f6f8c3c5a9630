"""`matchpost verify WHAT`: check a match's whole history, from its bytes up; or a file, without a server.

Its leaves must be in the published log, too, as far as a signed checkpoint covers them. `--all` checks everything,
and `--mirror` published logs without a server.

`matchpost verify FILE`: check a match document, a receipt or a proof, without any server.

The report of every form of `verify`: what holds, what is not proven, what does not hold, and what was not checked.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from domain.errors import Code, Refusal
from domain.match.history import BrokenHistory
from infra.audit.check_file import check_file
from infra.audit.faults import NotCheckableError
from infra.audit.match_document import DOCUMENT_LIMIT
from infra.audit.published_match import NotCompared, PublishedMatches, open_published
from infra.audit.stored_match import check_match
from infra.log.signed_note import NoteError, VerifierKey
from infra.settings.settings import Settings
from infra.store.trimmed_leaves import published_logs
from infra.store.watermarks import read_published_sizes
from services.app.context import App
from services.app.error_codes import EXIT_OK, EXIT_REFUSED, EXIT_UNKNOWN
from services.language.arguments import read_board

SHOWN: Final = 20
"""Faults that are listed; the others are counted."""


class VerifyReport(msgspec.Struct, frozen=True):
    """The result of a check, in sentences."""

    holds: Sequence[str] = ()
    limits: Sequence[str] = ()
    """Sentences about all that is not proven."""
    faults: Sequence[str] = ()
    """Sentences about all that does not hold."""
    unchecked: Sequence[str] = ()
    """Sentences about all that could not be checked."""
    summary: str = ""
    """The last line; empty for none."""
    is_unknown: bool = False
    """Whether something could not be checked that has to be."""

    @property
    def exit_code(self) -> int:
        """Return 0 if all holds, 1 if something does not, 2 if that is not known."""
        if self.faults:
            return EXIT_REFUSED
        return EXIT_UNKNOWN if self.is_unknown else EXIT_OK

    def print(self) -> int:
        """Print it, faults and what was not checked on standard error; return the exit code."""
        for sentence in self.holds:
            print(sentence)
        for sentence in self.limits:
            print(f"not proven: {sentence}")
        for sentences in (self.faults, self.unchecked):
            for sentence in sentences[:SHOWN]:
                print(sentence, file=sys.stderr)
            if len(sentences) > SHOWN:
                print(f"and {len(sentences) - SHOWN} more like these", file=sys.stderr)
        if self.summary:
            print(self.summary)
        return self.exit_code


def not_checkable(what: str, why: object) -> VerifyReport:
    """Return that something can't be checked."""
    return VerifyReport(unchecked=[f"{what} can't be checked: {why}"], is_unknown=True)


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


def run(
    what: str,
    settings: Settings,
    trusted: Sequence[str] = (),
    *,
    everything: bool = False,
    mirror: str = "",
    checkpoints: Sequence[str] = (),
) -> int:
    """Check the match with that number, the file of that name, a mirror, or everything.

    Returns the exit code. `checkpoints` are files with earlier checkpoints of the mirror.

    `trusted` are keys from elsewhere by which a file is checked, or files with such keys.
    """
    if mirror:
        from services.cli import verify_mirror  # noqa: PLC0415 - as below

        return verify_mirror.run(mirror, trusted, checkpoints).print()
    if everything:
        from services.cli import verify_all  # noqa: PLC0415 - slow to import, and seldom needed

        return verify_all.run(settings).print()
    if names_file(what):
        return run_file(what, trusted)
    return _check_match(what, settings).print()


def _check_match(number: str, settings: Settings) -> VerifyReport:
    board = read_board(number)
    with App(settings) as parts:
        try:
            return _check_board(parts, board)
        except BrokenHistory as broken:
            parts.damage.note(board, str(broken))
            return VerifyReport(faults=[f"match {board} does not hold: {broken}"])


def _check_board(parts: App, board: int) -> VerifyReport:
    """Check a match, and return what holds; raises `BrokenHistory`."""
    shards = parts.store.shards
    recorded = read_published_sizes(parts.data, shards)[board % shards].size
    published, reason = None, ""
    try:
        log = open_published(published_logs(parts.settings).of, board % shards, recorded)
        published = PublishedMatches(log)
    except NotCompared as error:
        reason = str(error)
    try:
        match = check_match(parts.store, board)
    except Refusal as refusal:
        if refusal.code is Code.UNKNOWN_BOARD and published is not None:
            published.require_none(board)
        raise
    try:
        proven = "" if published is None else published.compare(match)
    except NotCompared as error:
        proven, reason = "", str(error)
    holds = [f"{match}{proven}"]
    if any(parts.store.entries([board])):
        parts.archive.prove(board)
        holds.append("it is in the archive, and a signed checkpoint of the log covers it")
    parts.damage.forget(board)
    unchecked = [f"its leaves were not compared with the published log: {reason}"] if reason else []
    return VerifyReport(holds, unchecked=unchecked, is_unknown=bool(reason and recorded))
