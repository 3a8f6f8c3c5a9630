"""The setting of durability, without what keeps it.

The settings import it, and so does each command: nothing of Redis is imported here, because that is slow.
"""

from enum import StrEnum


class Mode(StrEnum):
    """The promise of an acknowledgement."""

    FSYNC = "fsync"
    """The move is on the server's disk."""

    REPLICATED = "replicated"
    """The move is on the server's disk and on those of replicas."""

    MANAGED = "managed"
    """Whatever the operator of a managed service vouches for."""

    NONE = "none"
    """Nothing: a crash of the machine may lose moves. For tests and benchmarks."""

    @property
    def durable(self) -> bool:
        """Return whether an outcome may be called accepted; else it stays pending."""
        return self is not Mode.NONE

    @property
    def verified(self) -> bool:
        """Return whether the server has to show by its settings that it keeps the promise."""
        return self in (Mode.FSYNC, Mode.REPLICATED)
