"""The first thing in a document that does not hold, and documents that can't be checked here."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from domain.match.history import BrokenHistory

_LONGEST: Final = 1_000
"""Characters of a sentence that are shown."""

_PLURALS: Final = {"leaf": "leaves"}


class EvidenceFault(Exception):  # noqa: N818 - it names what does not hold
    """Something does not hold; the message is a sentence that begins with the place."""


class NotCheckableError(Exception):
    """This installation can't check it, and nothing is said about it; the message is a sentence."""


@contextmanager
def fault_at(place: str) -> Iterator[None]:
    """Turn errors of reading and proving inside into a fault at a place, such as `leaf 7`."""
    try:
        yield
    except BrokenHistory as broken:
        raise EvidenceFault(str(broken)) from broken
    except (ValueError, msgspec.MsgspecError) as error:
        raise EvidenceFault(f"{place}: {error}") from error


@contextmanager
def fault_of_leaf(place: str) -> Iterator[None]:
    """Turn what is wrong with an event inside into a fault of its leaf."""
    try:
        yield
    except BrokenHistory as broken:
        raise EvidenceFault(f"{place}: {broken.sentence}") from broken


def require(holds: bool, place: str, sentence: str | Callable[[], str]) -> None:  # noqa: FBT001 - an assertion
    """Raise an `EvidenceFault` at a place unless something holds."""
    if not holds:
        said = sentence if isinstance(sentence, str) else sentence()
        raise EvidenceFault(f"{place}: {said}")


def printable(sentence: str) -> str:
    """Return a sentence for a terminal: it may repeat what is in a file, which may be anything."""
    shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in sentence)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."


def count(number: int, what: str) -> str:
    """Return a number with its noun, such as `1 event` or `3 events`."""
    return f"{number} {what}" if number == 1 else f"{number} {_PLURALS.get(what, what + 's')}"
