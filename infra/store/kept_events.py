"""The events of a match that Redis has: all, or the first, a mark, and the last ones.

The events between may be trimmed where they are in the published log. The mark stands in their place and
has their number, so that one read shows what is missing. No event begins as a mark does.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

_MARK: Final = b"#"

MARK_PLACE: Final = 1
"""Where the mark is in the list of a match's events."""


class KeptEvents(msgspec.Struct, frozen=True):
    """The events in Redis of a match of which some were trimmed; those come after the first."""

    first: bytes
    trimmed: int
    last: list[bytes]

    def from_seq(self, start: int) -> list[bytes] | None:
        """Return the events from sequence number `start` on; None if some of those were trimmed."""
        before = 1 + self.trimmed
        return self.last[start - 1 - before :] if start > before else None


def is_mark(element: bytes | None) -> bool:
    """Return whether an element of the list is a mark."""
    return element is not None and element.startswith(_MARK)


def read_kept(elements: Sequence[bytes]) -> KeptEvents | None:
    """Return the events of a list with a mark; None for a list that is whole."""
    if len(elements) <= MARK_PLACE or not is_mark(elements[MARK_PLACE]):
        return None
    return KeptEvents(elements[0], _number(elements[MARK_PLACE]), list(elements[MARK_PLACE + 1 :]))


def count_events(length: int, element: bytes | None) -> int:
    """Return how many events a match has, by the length of its list and the element at `MARK_PLACE`."""
    return length - 1 + _number(element) if element is not None and is_mark(element) else length


def _number(mark: bytes) -> int:
    return int(mark[len(_MARK) :])
