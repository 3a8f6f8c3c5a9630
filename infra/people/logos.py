"""Logos: pictures that nothing can be hidden in which a browser would run. PNG and WebP, known by their first bytes.

SVG is none of them, because it may have scripts.
"""

import struct
from hashlib import sha256
from typing import Final

MOST_BYTES: Final = 40_000
"""The logo is loaded once by every visitor, and has to fit into a request."""

MOST_PIXELS: Final = 1_024
"""Width and height, at most."""

MEDIA_TYPES: Final = {"png": "image/png", "webp": "image/webp"}

_PNG: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_DIGITS: Final = 32


def logo_name(data: bytes) -> str:
    """Return the file name of a picture, by its digest and its type; empty if it can't be a logo."""
    kind, size = _seen(data)
    fits = len(data) <= MOST_BYTES and all(1 <= side <= MOST_PIXELS for side in size)
    return f"{sha256(data).hexdigest()[:_DIGITS]}.{kind}" if kind and fits else ""


def _seen(data: bytes) -> tuple[str, tuple[int, int]]:
    """Return the type of a picture, and its width and height; an empty type for any other bytes."""
    if data.startswith(_PNG) and len(data) > len(_PNG) + 8:
        width, height = struct.unpack_from(">2I", data, len(_PNG))
        return "png", (width, height)
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:  # noqa: PLR2004 - of its headers
        return "", (0, 0)
    match data[12:16]:
        case b"VP8X":
            return "webp", (1 + _three_bytes(data, 24), 1 + _three_bytes(data, 27))
        case b"VP8L" if data[20] == 0x2F:  # noqa: PLR2004 - its signature
            (bits,) = struct.unpack_from("<I", data, 21)
            return "webp", (1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            width, height = struct.unpack_from("<2H", data, 26)
            return "webp", (width & 0x3FFF, height & 0x3FFF)
        case _:
            return "", (0, 0)


def _three_bytes(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 3], "little")
