"""Numbers that look random and follow from a seed: the domain draws no chance of its own."""

from collections.abc import MutableSequence, Sequence
from hashlib import sha256
from typing import Any, Final, TypeVar

T = TypeVar("T")

_MASK: Final = (1 << 64) - 1
_STEP: Final = 0x9E3779B97F4A7C15


class RandomNumbers:
    """The generator SplitMix64. The same seed leads to the same numbers on any machine."""

    def __init__(self, seed: bytes) -> None:
        self._state = int.from_bytes(sha256(seed).digest()[:8], "big")

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit` - 1, each about equally likely."""
        self._state = mixed = (self._state + _STEP) & _MASK
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
        return ((mixed ^ mixed >> 31) * limit) >> 64

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items, of which there is at least one."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Bring the items into a random order."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
