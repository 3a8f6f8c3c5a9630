"""A value in Redis of which a process needs the latest all the time, and asks at most once a second."""

import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

FRESH_SECONDS: Final = 1.0
"""How old what a process knows may be. A change that waits for so long is in force in all processes."""

T = TypeVar("T")


class Recent(Generic[T]):
    """A value as it was when this process last read it."""

    def __init__(
        self, read: Callable[[], T], usual: T, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """`read` asks the server; `usual` is the value of one where nothing was set."""
        self._read = read
        self._monotonic = monotonic
        self._read_at = float("-inf")
        self.last = usual
        """The value that was read last, however long ago; it asks for nothing."""

    @property
    def is_fresh(self) -> bool:
        """Whether `recent` answers without asking the server."""
        return self._monotonic() - self._read_at < FRESH_SECONDS

    def recent(self) -> T:
        """Return the value, at most `FRESH_SECONDS` old."""
        return self.last if self.is_fresh else self.now()

    def now(self) -> T:
        """Return the value as it is now."""
        asked = self._monotonic()
        self.last, self._read_at = self._read(), asked
        return self.last

    def forget(self) -> None:
        """Have the next `recent` ask, because this process has changed the value."""
        self._read_at = float("-inf")
