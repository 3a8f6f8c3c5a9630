"""Totals of a shard's leaves by match, so that a log is compared with its matches in little memory."""

import secrets
from array import array
from hashlib import blake2b
from typing import Final

import msgspec

_MODULUS: Final = 1 << 64
_DIGEST: Final = 8

NO_TOTAL: Final = (0, 0)
"""The total of a match without leaves."""


def new_secret() -> bytes:
    """Return a secret for `leaf_number`, so that nobody can make other leaves with the same total."""
    return secrets.token_bytes(32)


def leaf_number(secret: bytes, index: int, leaf: bytes) -> int:
    """Return a number of 64 bits for a leaf and its place in the log."""
    found = blake2b(index.to_bytes(8) + leaf, digest_size=_DIGEST, key=secret).digest()
    return int.from_bytes(found)


def add_numbers(one: int, other: int) -> int:
    """Return the sum of two such numbers."""
    return (one + other) % _MODULUS


class TotalsSlice(msgspec.Struct, frozen=True):
    """The totals of some consecutive boards of a shard."""

    first: int
    counts: bytes
    sums: bytes

    def of(self, place: int) -> tuple[int, int]:
        """Return how many leaves a match has and the sum of their numbers, by its place in the shard."""
        at = (place - self.first) * _DIGEST
        count = int.from_bytes(self.counts[at : at + _DIGEST], "little")
        return count, int.from_bytes(self.sums[at : at + _DIGEST], "little")


class LeafTotals:
    """The totals of a shard: 16 bytes for each place of a board, which is its number by the shards."""

    def __init__(self) -> None:
        self._counts = array("Q")
        self._sums = array("Q")

    def __len__(self) -> int:
        """Return the number of places up to the last board that has a leaf."""
        return len(self._counts)

    def add(self, place: int, number: int) -> None:
        """Add a leaf of the match at a place."""
        self._grow(place)
        self._counts[place] += 1
        self._sums[place] = add_numbers(self._sums[place], number)

    def cut(self, first: int, end: int) -> TotalsSlice:
        """Return the totals of the places from `first` up to `end`."""
        counts, sums = (
            array("Q", [*row[first:end], *[0] * (end - max(first, len(row)))])
            for row in (self._counts, self._sums)
        )
        return TotalsSlice(first, _little(counts), _little(sums))

    def _grow(self, place: int) -> None:
        if place >= len(self._counts):
            more = bytes(8 * (place + 1 - len(self._counts)))
            self._counts.frombytes(more)
            self._sums.frombytes(more)


def _little(row: "array[int]") -> bytes:
    return b"".join(number.to_bytes(_DIGEST, "little") for number in row)
