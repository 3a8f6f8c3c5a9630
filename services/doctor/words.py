"""Numbers in words, as findings use them."""

from typing import Final

GIB: Final = 1 << 30
MIB: Final = 1 << 20


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
