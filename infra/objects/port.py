"""The port of the object store: its guarantees and its errors.

Each guarantee has a test in the contract suite that every adapter passes:

1.  When `create`, `replace` or `delete` has returned, what it did survives a crash of the machine.
2.  An object is there whole or not at all, whatever is killed.
3.  `create` never changes an object. Of several writers with the same bytes all succeed; with other
    bytes than the object has, it raises `ObjectDiffersError`.
4.  `replace` writes only where the object is what the writer has seen, so that of several writers that
    have seen the same one succeeds. One that repeats what it has written succeeds as well.
5.  Any other failure is an `ObjectStoreError`, and nothing is known about a write that ended in one: it
    may be repeated.
"""

import re
from typing import Final, Protocol

_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")
_MOST_CHARACTERS: Final = 200


class ObjectStoreError(Exception):
    """The object store can't be reached, or refuses; the message is a sentence for an operator."""


class ObjectNotFoundError(ObjectStoreError):
    """There is no object of this name."""


class ObjectDiffersError(ObjectStoreError):
    """An object that never changes has other bytes than its only writer would write.

    Somebody else writes here, or the data are another history: the writer stops and logs an alarm.
    """


class ObjectChangedError(ObjectStoreError):
    """An object is not what the writer has seen; nothing was written."""


class ObjectStore(Protocol):
    """Bytes under names such as `s07/tile/0/001`; each part begins with a letter, a digit, `-` or `_`."""

    def get(self, name: str) -> bytes:
        """Return an object; `ObjectNotFoundError` if there is none."""
        ...

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """Return so many bytes of an object from `start`, fewer where it ends."""
        ...

    def create(self, name: str, data: bytes) -> None:
        """Write an object that never changes; `ObjectDiffersError` if it exists with other bytes."""
        ...

    def replace(self, name: str, data: bytes, before: bytes | None) -> None:
        """Write an object that was `before` when it was read, None for absent.

        `ObjectChangedError` if it is neither `before` nor `data` already.
        """
        ...

    def delete(self, name: str) -> None:
        """Delete an object, if it exists."""
        ...

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects directly in a folder, in order; none if it does not exist."""
        ...


def check_name(name: str) -> None:
    """Raise ValueError for a name that an object can't have: it might leave the store."""
    if len(name) > _MOST_CHARACTERS or not _NAME.fullmatch(name):
        raise ValueError(f"an object can't have the name {name!r}")
