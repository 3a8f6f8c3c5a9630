"""A finding: how bad it is, what it is about, what is the case, and what to do."""

from enum import IntEnum
from typing import Final

import msgspec

GIB: Final = 1 << 30
MIB: Final = 1 << 20


class Level(IntEnum):
    """How much a finding matters."""

    OK = 0
    """As it should be."""
    NOTE = 1
    """Worth knowing; nothing needs to be done."""
    WARN = 2
    """Somebody should look at it soon."""
    BAD = 3
    """Moves are not taken, not decided or not safe until something is done."""

    @property
    def word(self) -> str:
        """The level as it is printed."""
        return self.name.lower()


class Finding(msgspec.Struct, frozen=True):
    """One thing the doctor has looked at, in plain words."""

    level: Level
    about: str
    """One word: what was looked at."""
    what: str
    remedy: str = ""
    """What to do; always there for `warn` and `bad`."""


def ok(about: str, what: str) -> Finding:
    """Say that something is as it should be."""
    return Finding(Level.OK, about, what)


def note(about: str, what: str) -> Finding:
    """Say something worth knowing."""
    return Finding(Level.NOTE, about, what)


def warn(about: str, what: str, remedy: str) -> Finding:
    """Say what somebody should look at."""
    return Finding(Level.WARN, about, what, remedy)


def bad(about: str, what: str, remedy: str) -> Finding:
    """Say what is wrong."""
    return Finding(Level.BAD, about, what, remedy)


def count(number: int, one: str, many: str) -> str:
    """Give `no entries`, `1 entry`, `2 entries`."""
    return f"{number or 'no'} {one if number == 1 else many}"


def span(seconds: int) -> str:
    """Return a length of time in one unit, such as `3 h`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def size_of(number: int) -> str:
    """Return a number of bytes in GiB or MiB."""
    if number >= 10 * GIB:
        return f"{number / GIB:.0f} GiB"
    return f"{number / GIB:.1f} GiB" if number >= GIB else f"{number / MIB:.1f} MiB"
