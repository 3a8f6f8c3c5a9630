"""Findings of the doctor: severity, subject, sentence and remedy; and numbers in words for them."""

from enum import IntEnum
from typing import Final

import msgspec

GIB: Final = 1 << 30
MIB: Final = 1 << 20


class Level(IntEnum):
    """Severity of a finding."""

    OK = 0
    """All is well."""
    NOTE = 1
    """For information; nothing has to be done."""
    WARN = 2
    """The operator should look at it soon."""
    BAD = 3
    """Moves are not accepted, not decided or not safe until the operator acts."""

    @property
    def word(self) -> str:
        """The level's printed name."""
        return self.name.lower()


class Finding(msgspec.Struct, frozen=True):
    """The result of one check, as sentences for the operator."""

    level: Level
    about: str
    """One word for the subject of the check."""
    what: str
    remedy: str = ""
    """The advice; never empty for `warn` and `bad`."""


def ok(about: str, what: str) -> Finding:
    """Return a finding that all is well."""
    return Finding(Level.OK, about, what)


def note(about: str, what: str) -> Finding:
    """Return a finding for information."""
    return Finding(Level.NOTE, about, what)


def warn(about: str, what: str, remedy: str) -> Finding:
    """Return a finding that the operator should look at soon."""
    return Finding(Level.WARN, about, what, remedy)


def bad(about: str, what: str, remedy: str) -> Finding:
    """Return a finding that the operator has to act on."""
    return Finding(Level.BAD, about, what, remedy)


def count(number: int, one: str, many: str) -> str:
    """Return a number with its noun, such as `no entries`, `1 entry` or `2 entries`."""
    return f"{number or 'no'} {one if number == 1 else many}"


def span(seconds: int) -> str:
    """Return a duration in one unit, such as `3 h`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def size_of(number: int) -> str:
    """Return a number of bytes in GiB or MiB."""
    if number >= 10 * GIB:
        return f"{number / GIB:.0f} GiB"
    return f"{number / GIB:.1f} GiB" if number >= GIB else f"{number / MIB:.1f} MiB"
