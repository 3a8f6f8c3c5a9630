"""Compression of answers, by brotli or gzip as the client accepts.

An answer that is sent in one piece is compressed if it is text and long enough. Streams, files that
are packed already, and answers with an encoding of their own pass unchanged.

Compressed pages tell their length, and so a little about what is in them (BREACH). Pages have one secret that
an attacker wants, the token of their forms; `services.http.web.session` masks it for each answer.
"""

import asyncio
import gzip
import re
from typing import Any, Final, Literal

import brotli

Encoding = Literal["br", "gzip"]

_ACCEPTED: Final = re.compile(
    r"\s*([a-z*]+)\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?", re.IGNORECASE
)
_MOST_NAMED: Final = 20

_TEXTS: Final = (
    b"text/html",
    b"text/plain",
    b"text/css",
    b"text/javascript",
    b"image/svg+xml",
    b"application/json",
    b"application/problem+json",
    b"application/manifest+json",
)
_SHORT: Final = 800
"""Bytes of a body that fits a network packet as it is."""
_LONG: Final = 65_536
"""Bytes of a body that is compressed in a thread, because it takes milliseconds."""

_QUICK_BROTLI: Final = 5
_QUICK_GZIP: Final = 6
_BEST_BROTLI: Final = 11


def accepted_encoding(header: str) -> Encoding | None:
    """Return the best encoding that a header Accept-Encoding allows; None for none."""
    wishes: dict[str, float] = {}
    for part in header.split(",", _MOST_NAMED)[:_MOST_NAMED]:
        if found := _ACCEPTED.fullmatch(part):
            wishes.setdefault(found[1].lower(), float(found[2] or 1))
    rest = wishes.get("*", 0.0)
    brotli_wish, gzip_wish = wishes.get("br", rest), wishes.get("gzip", rest)
    if not max(brotli_wish, gzip_wish):
        return None
    return "br" if brotli_wish >= gzip_wish else "gzip"


def compress(data: bytes, encoding: Encoding) -> bytes:
    """Compress an answer, quickly."""
    if encoding == "br":
        return bytes(brotli.compress(data, quality=_QUICK_BROTLI))
    return gzip.compress(data, _QUICK_GZIP, mtime=0)


def compress_well(data: bytes, encoding: Encoding) -> bytes:
    """Compress a file that is sent many times."""
    if encoding == "br":
        return bytes(brotli.compress(data, quality=_BEST_BROTLI))
    return gzip.compress(data, mtime=0)


class CompressedAnswer:
    """The start of an answer that waits for its body, which decides about its headers."""

    def __init__(self, start: Any, encoding: Encoding | None) -> None:
        self._start = start
        self._encoding = encoding

    @staticmethod
    def is_possible(start: Any) -> bool:
        """Return whether an answer is text without an encoding of its own."""
        headers = dict(start["headers"])
        kind: bytes = headers.get(b"content-type", b"")
        return kind.startswith(_TEXTS) and b"content-encoding" not in headers

    async def with_body(self, message: Any) -> tuple[Any, Any]:
        """Return the start and the body to send."""
        start, body = self._start, message.get("body", b"")
        headers = [*_without(start["headers"], b"vary"), _vary(start["headers"])]
        if self._encoding and len(body) >= _SHORT and not message.get("more_body"):
            body = await self._packed(body, self._encoding)
            headers = [
                *_without(headers, b"content-length"),
                (b"content-length", b"%d" % len(body)),
                (b"content-encoding", self._encoding.encode()),
            ]
            headers = [
                (name, _weak(value) if name == b"etag" else value) for name, value in headers
            ]
            message = {**message, "body": body}
        return {**start, "headers": headers}, message

    @staticmethod
    async def _packed(body: bytes, encoding: Encoding) -> bytes:
        if len(body) < _LONG:
            return compress(body, encoding)
        return await asyncio.to_thread(compress, body, encoding)


def _without(headers: Any, name: bytes) -> list[tuple[bytes, bytes]]:
    return [one for one in headers if one[0] != name]


def _vary(headers: Any) -> tuple[bytes, bytes]:
    """Return the header Vary, which has the encoding too."""
    named = [value for name, value in headers if name == b"vary"]
    return b"vary", b", ".join([*named, b"Accept-Encoding"])


def _weak(tag: bytes) -> bytes:
    """Return an entity tag as a weak one, because the bytes differ by their encoding."""
    return tag if tag.startswith(b"W/") else b"W/" + tag
