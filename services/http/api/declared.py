"""The routes of the API, each declared once: path, summary, scope and error codes beside its function.

A module has one `ApiRoutes`, from which `services.http.app` takes its routes. The OpenAPI document and
`authenticate` go by these declarations.
"""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from inspect import iscoroutinefunction, signature
from typing import Any, Final, Protocol, TypedDict, TypeVar, Unpack

from litestar import Request, Response
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler

from domain.errors import Code
from infra.people.tokens import Scope
from services.http.api.auth import FORM, SCHEME
from services.http.etag import ETag

ERROR_CODES: Final = "refuses"
HAS_ETAG: Final = "tagged"
MAY_BE_PENDING: Final = "waits"
HAS_LOCATION: Final = "located"
PROGRESS: Final = "progress"

CHECKED_MOVE_ERRORS: Final = (
    *(Code.UNKNOWN_BOARD, Code.NOT_A_PLAYER, Code.NOT_STARTED, Code.MATCH_OVER),
    *(Code.STALE_PLY, Code.NOT_YOUR_TURN, Code.ILLEGAL_MOVE, Code.TOO_LONG),
)
"""The error codes of a move that is looked at, and not played yet."""

COMMAND_ERRORS: Final = (Code.ID_REUSED, Code.TOO_MANY_REFUSALS, Code.BUSY)
"""The error codes of each command in a match."""

MOVE_ERRORS: Final = (*CHECKED_MOVE_ERRORS, Code.TIME_OVER, *COMMAND_ERRORS)
"""The error codes of a move that is played."""

_OK, _NO_CONTENT = 200, 204

_Function = TypeVar("_Function", bound=Callable[..., Any])


class NoScope(StrEnum):
    """Requests that a route accepts without a scope: all, or all that have a valid token."""

    ANYBODY = "anybody"
    ANY_TOKEN = "any token"  # noqa: S105 - no secret


ANYBODY: Final = NoScope.ANYBODY
ANY_TOKEN: Final = NoScope.ANY_TOKEN


class Special(TypedDict, total=False):
    """Declarations of few routes; those that the framework does not know are in the route's `opt`."""

    tag: str
    """Its tag, if it is not that of the module."""
    description: str
    """Its description in the document, if it is not the function's docstring."""
    status_code: int
    """The status of success: by default 200, or 204 if the function returns None."""
    media_type: str
    include_in_schema: bool
    weight: int
    """As how many requests it counts; by default one."""
    tagged: bool
    """The answer has an entity tag, and may be 304."""
    waits: bool
    """It waits for an outcome, and may answer 202."""
    located: bool
    """The answer has in the header `Location` the path of the new resource."""
    progress: type[Any]
    """It answers 202 with this type while its answer is being made."""
    for_guests: bool
    """It answers those without an account also on a server whose matches are for members."""
    form: type[Any]
    """Its body is a form with the fields of this type, which proves who acts: a page of any site may send it."""
    exception_handlers: Any
    """Its own answers to errors."""
    apart: bool
    """It is for the operator's own programs: no token is checked, and no request is counted."""


def refuses(*codes: Code) -> Callable[[_Function], _Function]:
    """Declare the error codes of a route, in addition to those that any such route may return.

    This stands below the route itself.
    """

    def decorate(function: _Function) -> _Function:
        if hasattr(function, ERROR_CODES):
            raise TypeError(f"the error codes of {function.__name__} come too late, or twice")
        setattr(function, ERROR_CODES, codes)
        return function

    return decorate


class Declare(Protocol):
    """Declares a route by its path, its summary in the document, and the scope that it needs."""

    def __call__(
        self, path: str, summary: str, needs: Scope | NoScope, **special: Unpack[Special]
    ) -> Callable[[_Function], _Function]:
        """Return the decorator of the function that answers."""


class ApiRoutes:
    """The routes of a module, under its tag in the document; `all` has them for the application."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self.all: list[HTTPRouteHandler] = []
        self.get: Declare = partial(self._declare, HttpMethod.GET)
        self.put: Declare = partial(self._declare, HttpMethod.PUT)
        self.post: Declare = partial(self._declare, HttpMethod.POST)
        self.patch: Declare = partial(self._declare, HttpMethod.PATCH)
        self.delete: Declare = partial(self._declare, HttpMethod.DELETE)

    def _declare(
        self,
        method: HttpMethod,
        path: str,
        summary: str,
        needs: Scope | NoScope,
        **special: Unpack[Special],
    ) -> Callable[[_Function], _Function]:
        def decorate(function: _Function) -> _Function:
            asked = signature(function)
            if needs is not Scope.PLAY and "sender" in asked.parameters:
                raise TypeError(f"{function.__name__} sends commands, and needs no scope for it")
            if needs is ANYBODY and "own" in asked.parameters:
                raise TypeError(f"{function.__name__} acts for an account, and needs no token")
            success = _NO_CONTENT if asked.return_annotation is None else _OK
            more: dict[str, Any] = {"tag": self._tag, "status_code": success, **special}
            if not iscoroutinefunction(function):
                more["sync_to_thread"] = True
            if not hasattr(function, ERROR_CODES):
                refuses()(function)
            route = HTTPRouteHandler(
                path,
                http_method=method,
                summary=summary,
                tags=[more.pop("tag")],
                security=_security(needs),
                opt={ERROR_CODES: getattr(function, ERROR_CODES)},
                **more,
            )
            self.all.append(route(function))
            return function

        return decorate


def _security(needs: Scope | NoScope) -> list[dict[str, list[str]]] | None:
    if needs is ANYBODY:
        return None
    return [{SCHEME: [str(needs)] if isinstance(needs, Scope) else []}]


def all_error_codes(handler: HTTPRouteHandler) -> list[Code]:
    """Return all codes that a route may return."""
    if handler.opt.get("apart"):
        return [Code.UNAVAILABLE, Code.INTERNAL]
    codes = [Code.BAD_REQUEST, Code.UNAUTHORIZED, Code.UNKNOWN_TOKEN, Code.TOO_FAST]
    codes += [Code.UNAVAILABLE, Code.DAMAGED, Code.INTERNAL, *handler.opt[ERROR_CODES]]
    if handler.resolve_security():
        codes += [Code.MISSING_SCOPE, Code.UNKNOWN_USER]
    elif "GET" not in handler.http_methods:
        codes += [] if FORM in handler.opt else [Code.CROSS_SITE]
    if ":int}" in "".join(handler.paths):
        codes.append(Code.NOT_FOUND)
    if body_type(handler) is not None or FORM in handler.opt or handler.handler_name == "do_line":
        codes.append(Code.TOO_LONG)
    return codes


def body_type(handler: HTTPRouteHandler) -> Any:
    """Return the type of a route's JSON body; None if it takes no body, or plain text."""
    field = handler.parsed_fn_signature.parameters.get("data")
    return field.annotation if field else None


Content = TypeVar("Content")


def tagged(request: Request[Any, Any, Any], content: Content) -> Response[Content]:
    """Return an answer with a tag of all that it says; for answers that cost less than their way to the client."""
    return ETag(type(content).__name__, content).answer(request, lambda: content)


def created(content: Content, path: str) -> Response[Content]:
    """Return an answer about what was made, with its path in `Location`."""
    return Response(content, headers={"Location": path})
