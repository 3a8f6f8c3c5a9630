"""The report of every form of `verify`: what holds, what is not proven, what does not hold, and what was not checked."""

import sys
from collections.abc import Sequence
from typing import Final

import msgspec

from services.app.error_codes import EXIT_OK, EXIT_REFUSED, EXIT_UNKNOWN

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
