"""The answers that a route declares; the OpenAPI document and its test go by them."""

from typing import Any, Final

from litestar.handlers import HTTPRouteHandler

from domain.errors import Code

ERROR_CODES: Final = "refuses"
HAS_ETAG: Final = "tagged"
MAY_BE_PENDING: Final = "waits"
HAS_LOCATION: Final = "located"
PROGRESS: Final = "progress"

MOVE_ERRORS: Final = (
    Code.UNKNOWN_BOARD,
    Code.NOT_A_PLAYER,
    Code.TOO_LONG,
    Code.NOT_STARTED,
    Code.MATCH_OVER,
    Code.STALE_PLY,
    Code.NOT_YOUR_TURN,
    Code.ILLEGAL_MOVE,
    Code.TIME_OVER,
    Code.ID_REUSED,
    Code.TOO_MANY_REFUSALS,
    Code.BUSY,
)
"""The error codes of a move that is played."""


def declare_errors(
    *codes: Code, tagged: bool = False, waits: bool = False, located: bool = False
) -> dict[str, Any]:
    """Declare the error codes of a route, in addition to those that any such route may return.

    A `tagged` answer has an entity tag, and may be 304. A route that `waits` for an outcome may
    answer 202. One that is `located` has in the header `Location` the path of the new resource.
    """
    flags = {HAS_ETAG: tagged, MAY_BE_PENDING: waits, HAS_LOCATION: located}
    return {ERROR_CODES: codes, **flags}


def in_progress(kind: type[Any]) -> dict[str, Any]:
    """Declare that a route answers 202 with this type while its answer is being made."""
    return {PROGRESS: kind}


OPERATOR_ROUTE: Final = {**declare_errors(), "apart": True}
"""For routes of the operator's own programs: no token is checked, and no request is counted."""


def all_error_codes(handler: HTTPRouteHandler) -> list[Code]:
    """Return all codes that a route may return."""
    if handler.opt.get("apart"):
        return [Code.UNAVAILABLE, Code.INTERNAL]
    codes = [Code.BAD_REQUEST, Code.UNAUTHORIZED, Code.UNKNOWN_TOKEN, Code.TOO_FAST]
    codes += [Code.UNAVAILABLE, Code.DAMAGED, Code.INTERNAL, *handler.opt[ERROR_CODES]]
    if handler.resolve_security():
        codes += [Code.MISSING_SCOPE, Code.UNKNOWN_USER]
    elif "GET" not in handler.http_methods:
        codes.append(Code.CROSS_SITE)
    if ":int}" in "".join(handler.paths):
        codes.append(Code.NOT_FOUND)
    if body_type(handler) is not None or handler.handler_name == "do_line":
        codes.append(Code.TOO_LONG)
    return codes


def body_type(handler: HTTPRouteHandler) -> Any:
    """Return the type of a route's JSON body; None if it takes no body, or plain text."""
    field = handler.parsed_fn_signature.parameters.get("data")
    return field.annotation if field else None
