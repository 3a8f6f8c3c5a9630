"""The language that a client of the API wants sentences in, by its header Accept-Language.

The network that a request comes from: an IPv4 address, or a /64 of IPv6.

Ids of requests: sent by the client or its proxy, or made here, and returned with the answer.

A log line that was written for a request has its id, so that an operator finds all of them by the id that a player
reports.

The context and the router that requests come to.
"""

import itertools
import os
import re
from collections.abc import Iterable
from copy import copy
from functools import cache, lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final, Self

from litestar import Request, Router, route
from litestar.connection import ASGIConnection
from litestar.exceptions import ImproperlyConfiguredException
from litestar.routes import BaseRoute
from litestar.types import ControllerRouterHandler
from litestar.types.internal_types import RouteHandlerMapItem
from litestar.utils.path import join_paths

from domain.sentences import ENGLISH, Sentence, Text, Translation
from infra.languages.catalogues import languages

_RANGE: Final = re.compile(
    r"\s*([a-z]{1,8}|\*)(?:-[a-z0-9-]{1,35})?\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?",
    re.IGNORECASE,
)
_MOST: Final = 20
"""Languages in a header that are looked at."""


def wanted_language(header: str) -> str:
    """Return the language that is wanted most of those that there are; English without a wish.

    It makes no difference between regions, and skips what can't be read.
    """
    wishes: dict[str, float] = {}
    for part in header.split(",", _MOST)[:_MOST]:
        if found := _RANGE.fullmatch(part):
            wishes.setdefault(found[1].lower(), float(found[2] or 1))
    rest = wishes.get("*", 0.0)
    best = max(languages(), key=lambda language: wishes.get(language, rest))
    return best if wishes.get(best, rest) else ENGLISH.code


def headers_of_language(text: Text, language: Translation) -> dict[str, str]:
    """Return the headers of an answer with a text in a language; a plain sentence is English."""
    spoken = (language if isinstance(text, Sentence) else ENGLISH).code
    return {"Content-Language": spoken, "Vary": "Accept-Language"}


_IPV6_PREFIX: Final = 64
"""Prefix bits of an IPv6 network, because a client with one of its addresses has all of them."""

_FORWARDED_FOR: Final = b"x-forwarded-for"


def network_of_request(scope: Any, *, behind_proxy: bool) -> str:
    """Return the network of an ASGI scope; X-Forwarded-For counts only behind a trusted proxy."""
    if behind_proxy and (forwarded := _last_forwarded(scope["headers"])):
        return network_of(forwarded)
    client = scope.get("client")
    return network_of(client[0] if client else "")


def _last_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the last address, because the client may have written those before it."""
    found = [value for name, value in headers if name == _FORWARDED_FOR]
    return found[-1].decode("latin-1").rpartition(",")[2].strip() if found else ""


@lru_cache(4_096)
def network_of(address: str) -> str:
    """Return an IPv4 address itself, the network of an IPv6 address, or an empty text for neither."""
    try:
        read = ip_address(address)
    except ValueError:
        return ""
    if not isinstance(read, IPv6Address):
        return str(read)
    if read.ipv4_mapped:
        return str(read.ipv4_mapped)
    return str(ip_network((int(read), _IPV6_PREFIX), strict=False))


REQUEST_ID_HEADER: Final = b"x-request-id"

_FORM: Final = re.compile(rb"[A-Za-z0-9_-]{1,64}")
"""The form of an id that is accepted: no address fits it, and no line break."""

_KEY: Final = "request id"
"""The key in a scope of the request's id, once it is known."""

_numbers: Final = itertools.count(1)


@cache
def _prefix_of(process: int) -> str:
    """Return the beginning of the ids that a process makes; by its number, because processes are forked from others."""
    del process
    return os.urandom(5).hex()


def request_id_of(scope: Any) -> str:
    """Return the id of an ASGI scope: that of its header, if it has a usable one, or a new one."""
    known: str | None = scope.get(_KEY)
    if known is not None:
        return known
    sent = b""
    for name, value in scope["headers"]:
        if name == REQUEST_ID_HEADER:
            sent = value
            break
    usable = sent and _FORM.fullmatch(sent)
    id_ = sent.decode() if usable else f"{_prefix_of(os.getpid())}-{next(_numbers):x}"
    scope[_KEY] = id_
    return id_


SESSION_COOKIE: Final = "session"
_TLS_ONLY: Final = "__Host-"


def cookie_name(name: str, *, secure: bool) -> str:
    """Return the name of a cookie of this host, which over TLS is one that browsers take only there."""
    return f"{_TLS_ONLY}{name}" if secure else name


AnyConnection = ASGIConnection[Any, Any, Any, Any]

FOR_GUESTS: Final = "for_guests"
"""The `opt` key of a route that answers those without an account also where all else is for members.

`TRIAL` for one that the operator can close to them.
"""

TRIAL: Final = "trial"

PRIVATE: Final = "private"
"""The key in a scope of a request whose answer no cache may keep for others."""


def context_of(request: Request[Any, Any, Any]) -> Any:
    """Return the `services.http.context.ApiContext` that all requests of a process share."""
    return request.app.state.context


@route("/", http_method="OPTIONS", status_code=204, include_in_schema=False, sync_to_thread=False)
def _answer_nothing() -> None:
    """Answer OPTIONS with nothing, of which the outermost middleware says which methods a path allows."""


class RouterOfOneApp(Router):
    """A router that is made for one application, which makes the routes of its handlers, and registers it as it is.

    The framework makes the routes of each router, too, looks through all of them for each handler, registers a deep
    copy, and makes a handler of OPTIONS for each path: together two fifths of the time until hundreds of routes are made.
    """

    def __init__(self, path: str, **options: Any) -> None:
        self._handlers: dict[str, RouteHandlerMapItem] = {}
        self._options = copy(_answer_nothing)
        self._options.owner = self
        super().__init__(path, **options)

    def register(self, value: ControllerRouterHandler) -> list[BaseRoute]:
        """Keep a handler for the application; `ImproperlyConfiguredException` for a second one of a path and a method."""
        handler: Any = self._validate_registration_value(value)
        for path, handlers in self.get_route_handler_map(handler).items():
            whole = join_paths([self.path, path])
            there = self._handlers.setdefault(whole, {"OPTIONS": self._options})
            if there.keys() & handlers.keys():
                raise ImproperlyConfiguredException(f"{path} has two handlers of one method")
            there.update(handlers)
        return []

    @property
    def route_handler_method_map(self) -> dict[str, RouteHandlerMapItem]:
        """Return the handlers by path and method."""
        return self._handlers

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
