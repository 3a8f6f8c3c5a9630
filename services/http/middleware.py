"""The outermost middleware: HEAD, OPTIONS, headers, compression and metrics of every request.

Compression of answers, by brotli or gzip as the client accepts.

An answer that is sent in one piece is compressed if it is text and long enough. Streams, files that
are packed already, and answers with an encoding of their own pass unchanged.

Compressed pages tell their length, and so a little about what is in them (BREACH). Pages have one secret that
an attacker wants, the token of their forms; `services.http.web.session` masks it for each answer.
"""

import asyncio
import gzip
import logging
import re
import time
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import brotli
from litestar import Litestar
from litestar.enums import ScopeType
from litestar.routes import BaseRoute, HTTPRoute
from litestar.types import HTTPResponseStartEvent, Message, Receive, Scope, Send
from prometheus_client import Counter, Histogram

from infra.people.rate_limits import AttemptSource, attempts_from
from infra.process.log_context import LoggedWith
from infra.process.metrics import REGISTRY
from services.http.request_limits import RATE_HEADERS
from services.http.requests import (
    PRIVATE,
    REQUEST_ID_HEADER,
    network_of_request,
    request_id_of,
)

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

_QUICK_BROTLI: Final = 4
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


logger = logging.getLogger(__name__)

_REQUESTS: Final = Counter(
    "matchpost_http_requests_total",
    "Requests answered, by method, route and status.",
    ["method", "route", "status"],
    registry=REGISTRY,
)
_SECONDS: Final = Histogram(
    "matchpost_http_request_seconds",
    "How long requests took, by route.",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0),
    registry=REGISTRY,
)

# cached because a look-up by labels takes longer than counting; the cache has an entry for each row
# of the metrics
_counter: Final = cache(_REQUESTS.labels)
_timer: Final = cache(_SECONDS.labels)

_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
"""Methods with a metrics label of their own; all others count as `other`, to bound cardinality."""

PAUSE_SECONDS: Final = 0.25
"""How much later an answer 429 comes, because a sender at full speed would take time from others."""

_TOO_MANY: Final = "429"

Headers: TypeAlias = list[tuple[bytes, bytes]]

_COMMON_HEADERS: Final = [(b"x-content-type-options", b"nosniff")]

_NO_STORE: Final = (b"cache-control", b"no-store")

BEGAN: Final = "began"
"""The key in a scope of the time at which a request came, if others had it before."""

_HSTS: Final = (b"strict-transport-security", b"max-age=31536000")

_FOR_PROGRAMS: Final = re.compile(r"/(?:(?:api|healthz|readyz|\.well-known)(?=/|$)|log/.)")
"""Paths whose answers are for programs; `/log` itself is a page."""

_PERSONAL: Final = re.compile(r"/(account|messages|password)(?=/|$)")
"""Pages that no browser keeps, because the next one at the machine could read them."""

_CONTENT_POLICY: Final = (
    b"content-security-policy",
    b"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
)
"""An answer for programs that a browser renders may load nothing, run no script, and stand in no frame."""

_OWN_SITE: Final = (b"cross-origin-resource-policy", b"same-origin")
"""Pictures may stand on pages of other sites, and nothing else."""

_PICTURE: Final = b"image/svg+xml"

_EXPOSED: Final = (
    b"Content-Language, ETag, Link, Location, Matchpost-Code, Matchpost-Outcome, Matchpost-Receipt, "
    b"RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"
)

_ANY_ORIGIN: Final = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", _EXPOSED),
)
"""Pages of other sites may read what is for programs: no cookie counts there, and none is allowed."""

_PREFLIGHT: Final = (
    (
        b"access-control-allow-headers",
        b"Accept-Language, Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID",
    ),
    (b"access-control-max-age", b"86400"),
)
"""Headers for a browser that asks before it sends the request of another site's page."""


async def pause() -> None:
    """Wait before a request over a limit is answered, so that its sender slows down."""
    await asyncio.sleep(PAUSE_SECONDS)


def count_request(method: str, route: str, status: str, began: float) -> None:
    """Count an answered request in the metrics, and log it at the level debug."""
    seconds = time.perf_counter() - began
    _counter(method, route, status).inc()
    _timer(route).observe(seconds)
    # the route, because a path may have a userid or a code in it
    logger.debug("%s %s is answered with %s in %.1f ms", method, route, status, 1000 * seconds)


class _ResponseChannel:
    """One request's channels: they complete the answer's headers, and drop the body of a HEAD."""

    def __init__(
        self, receive: Receive, send: Send, scope: Any, headers: Headers, *, bodiless: bool
    ) -> None:
        self.status = "500"
        self._headers = headers
        self._scope = scope
        self.path = str(scope["path"])
        self._encoding = _accepted(scope)
        self._waiting: CompressedAnswer | None = None
        self._receive = receive
        self._send = send
        self._without_body = bodiless
        self._ended = False

    async def receive(self) -> Any:
        """Receive from the client; report a disconnect once the response is complete."""
        return {"type": "http.disconnect"} if self._ended else await self._receive()

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = str(message["status"])
            if self.status == _TOO_MANY:
                await pause()
            more = [*self._headers, *self._scope.get(RATE_HEADERS, ())]
            _add_headers(message, self.path, more)
            if PRIVATE in self._scope:
                _keep_private(message)
            if CompressedAnswer.is_possible(message):
                self._waiting = CompressedAnswer(message, self._encoding)
                return
        elif self._waiting is not None:
            start, message = await self._waiting.with_body(message)
            self._waiting = None
            await self._send(start)
            if self._without_body:
                await self._end()
                return
        elif self._without_body:
            return
        await self._send(message)
        if self._without_body:
            # an endless body, such as a stream of events, is not started
            await self._end()

    async def _end(self) -> None:
        """End the answer without a body."""
        self._ended = True
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class HttpMiddleware:
    """Wraps the application in what every request needs."""

    def __init__(self, app: Litestar, *, behind_proxy: bool, site: str | None = None) -> None:
        self._app = app
        self._behind_proxy = behind_proxy
        by_tls = (site or "").startswith("https://")
        self._common: Headers = [*_COMMON_HEADERS, _HSTS] if by_tls else [*_COMMON_HEADERS]
        self.usual_headers = (
            *self._common,
            *(_NO_STORE, _CONTENT_POLICY, *_ANY_ORIGIN, _OWN_SITE),
        )
        """Headers of an answer to a program, if the program itself has set none of them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, and measure its answer; other events pass unchanged."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        asked: Any = scope
        method, began = str(asked["method"]), asked.get(BEGAN) or time.perf_counter()
        id_ = request_id_of(asked)
        headers = [*self._common, (REQUEST_ID_HEADER, id_.encode())]
        if method == "HEAD":  # as GET, without a body
            asked = {**asked, "method": "GET"}
        answer = _ResponseChannel(receive, send, asked, headers, bodiless=method == "HEAD")
        with LoggedWith(request_id=id_):
            try:
                with attempts_from(self._source(asked)):
                    if method != "OPTIONS" or not await self._answer_options(answer):
                        await self._app(asked, answer.receive, answer.send)
            finally:
                route = str(asked.get("path_template") or "none")
                method = method if method in _METHODS else "other"
                count_request(method, route, answer.status, began)

    def _source(self, scope: Any) -> AttemptSource:
        network = network_of_request(scope, behind_proxy=self._behind_proxy)
        left = scope.get("extensions", {}).get("left")
        return AttemptSource(network, is_abandoned=left) if left else AttemptSource(network)

    async def _answer_options(self, answer: _ResponseChannel) -> bool:
        """Answer with the methods that a path allows; return False if no route has the path."""
        allowed = ", ".join(allowed_methods(self._app, answer.path)).encode()
        if not allowed:
            return False
        headers: Any = [(b"allow", allowed)]
        if _FOR_PROGRAMS.match(answer.path):
            headers += [(b"access-control-allow-methods", allowed), *_PREFLIGHT]
        start: Any = {"type": "http.response.start", "status": 204, "headers": headers}
        await answer.send(start)
        await answer.send({"type": "http.response.body", "body": b"", "more_body": False})
        return True


def _accepted(scope: Any) -> Encoding | None:
    """Return the encoding in which a request accepts its answer."""
    headers = [value for name, value in scope["headers"] if name == b"accept-encoding"]
    return accepted_encoding(b",".join(headers).decode("latin-1")) if headers else None


def _add_headers(start: HTTPResponseStartEvent, path: str, more: Headers) -> None:
    """Add the headers that every answer has, and those of its kind."""
    headers = list(start["headers"])
    present = dict(headers)
    if _PERSONAL.match(path):
        headers = [header for header in headers if header[0] != b"cache-control"]
    headers += more
    if b"cache-control" not in present or _PERSONAL.match(path):
        headers.append(_NO_STORE)
    if _FOR_PROGRAMS.match(path):
        headers += [_CONTENT_POLICY, *_ANY_ORIGIN]
        if not present.get(b"content-type", b"").startswith(_PICTURE):
            headers.append(_OWN_SITE)
    start["headers"] = headers


def _keep_private(start: HTTPResponseStartEvent) -> None:
    """Let no cache keep an answer but the browser's own."""
    start["headers"] = [
        (name, value.replace(b"public", b"private") if name == b"cache-control" else value)
        for name, value in start["headers"]
    ]


def allowed_methods(app: Litestar, path: str) -> list[str]:
    """Return the methods that a path allows, sorted; none if no route has it."""
    words = path.strip("/").split("/")
    found: set[str] = set()
    for route in app.routes:
        if isinstance(route, HTTPRoute) and _has_path(route, words):
            found |= {str(method) for method in route.route_handler_map}
    return sorted(found | {"HEAD"}) if "GET" in found else sorted(found)


def _has_path(route: BaseRoute, words: Sequence[str]) -> bool:
    parts = route.path_components
    return len(parts) == len(words) and all(
        part == word if isinstance(part, str) else bool(word)
        for part, word in zip(parts, words, strict=True)
    )
