"""Locators: where the leaves of a match are in its shard's log.

A locator is the indexes of all leaves of the match, events and refusals, in rising order. Each is a varint:
seven bits a byte, the lowest first, and the high bit set on all bytes but the last. A commit appends
to it (`commit.lua`). The indexes are whole, not differences from the one before, because the commit would
have to read that, and because a wrong one would spoil all that follow.
"""

from collections.abc import Iterable
from typing import Final

MOST_BITS: Final = 63
"""Bits of an index, so that a damaged locator is not one number without end."""


def encode(indexes: Iterable[int]) -> bytes:
    """Return the bytes of these log indexes."""
    return b"".join(map(_varint, indexes))


def decode(locator: bytes) -> list[int]:
    """Return the log indexes; `ValueError` if one is cut off or longer than `MOST_BITS`."""
    found, number, shift = [], 0, 0
    for byte in locator:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # noqa: PLR2004 - the high bit
            found.append(number)
            number = shift = 0
        elif shift >= MOST_BITS:
            raise ValueError("an index of the locator has too many bytes")
    if shift:
        raise ValueError("the last index of the locator is cut off")
    return found


def _varint(number: int) -> bytes:
    low = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits
        low.append(number & 0x7F | 0x80)
        number >>= 7
    low.append(number)
    return bytes(low)
