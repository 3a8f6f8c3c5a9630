"""Answers that say no: problem documents after RFC 9457, with the stable codes."""

import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from infra.gateway import OutcomePending
from services.api.bodies import LIMIT, WrongKindError, uncapital
from services.api.methods import methods_of
from services.api.pending import PendingAt
from services.app.error_codes import PROBLEMS, server_failure

logger = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"

RETRY_SECONDS: Final = {
    Code.PENDING: 1,
    Code.BUSY: 60,
    Code.UNAVAILABLE: 5,
    Code.TOO_FAST: 60,
    Code.TOO_MANY_ATTEMPTS: 900,
}
"""What Retry-After says, where trying again helps."""

_BAD, _GONE, _LARGE, _UNAUTHORIZED, _WRONG_METHOD, _WRONG_KIND = 400, 404, 413, 401, 405, 415

AnyRequest = Request[Any, Any, Any]


class Problem(msgspec.Struct, frozen=True):
    """A problem document."""

    type: str
    """Where the code is explained."""
    title: str
    """What the code means."""
    status: int
    detail: str
    """What is wrong here, in a sentence."""
    code: str
    """Stable; programs go by it."""


def problem(
    code: Code, detail: str, status: int | None = None, headers: dict[str, str] | None = None
) -> Response[Problem]:
    """Return a refusal as a response."""
    known = PROBLEMS[code]
    status = status or known.status
    body = Problem(f"/api/errors/{code}", known.meaning, status, detail, code)
    headers = {**(headers or {}), **headers_of(code)}
    return Response(body, status_code=status, headers=headers, media_type=MEDIA_TYPE)


def headers_of(code: Code) -> dict[str, str]:
    """Return the headers that go with a code, in whatever form it is told."""
    headers = {}
    if code in RETRY_SECONDS:
        headers["Retry-After"] = str(RETRY_SECONDS[code])
    if PROBLEMS[code].status == _UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="matchpost"'
    return headers


def refused(_: AnyRequest, reason: Refusal) -> Response[Problem]:
    """Answer a refusal."""
    return problem(reason.code, reason.sentence)


def pending(_: AnyRequest, error: OutcomePending) -> Response[Problem]:
    """Answer that the outcome is not known yet, and where it will be."""
    if not isinstance(error, PendingAt):
        return problem(Code.PENDING, str(error))
    return problem(Code.PENDING, str(error), headers={"Location": error.place})


def failed(_: AnyRequest, error: RedisError) -> Response[Problem]:
    """Answer that the server of the matches failed."""
    return problem(Code.UNAVAILABLE, server_failure(error))


def late(request: AnyRequest, error: LookupError) -> Response[Problem]:
    """Answer that lists are being made anew."""
    if type(error) is not LookupError:  # one that was not raised to be told
        return broken(request, error)
    return problem(Code.UNAVAILABLE, str(error))


def wrong_kind(_: AnyRequest, error: WrongKindError) -> Response[Problem]:
    """Answer a body of another kind than is read here."""
    return problem(Code.BAD_REQUEST, str(error), _WRONG_KIND)


def broken(request: AnyRequest, error: Exception) -> Response[Problem]:
    """Answer what should not have happened; its operator finds it in the log."""
    logger.error("%s %s failed", request.method, request.scope["path"], exc_info=error)
    return problem(Code.INTERNAL, "the server failed on this request; its operator has been told")


def unfit(request: AnyRequest, error: HTTPException) -> Response[Problem]:
    """Answer what the framework refuses."""
    match error.status_code:
        case 404:
            return problem(
                Code.NOT_FOUND, "there is nothing at this path; /api shows what there is"
            )
        case 405:
            return _not_allowed(request)
        case 413:
            said = f"the body is longer than {LIMIT} bytes"
            # what is still on its way is not read to its end
            return problem(Code.TOO_LONG, said, headers={"Connection": "close"})
        case 400 | 401:
            return problem(Code.BAD_REQUEST, _detail(error, _names(request)), _BAD)
        case 500 if "disconnected" in error.detail:  # nobody hears this
            return problem(Code.BAD_REQUEST, "the connection was closed within the body", _BAD)
        case _:
            return broken(request, error)


def _not_allowed(request: AnyRequest) -> Response[Problem]:
    listed = ", ".join(methods_of(request.app, request.scope["path"]))
    said = f"{request.method[:24]} can't be done here; what can is {listed}"
    return problem(Code.NOT_ALLOWED, said, headers={"Allow": listed})


def _names(request: AnyRequest) -> dict[str, str]:
    """Return what the parameters of an operation are called by who sends them, where we don't."""
    handler: Any = request.scope.get("route_handler")
    signature = getattr(handler, "parsed_fn_signature", None)
    parameters: dict[str, Any] = signature.parameters if signature else {}
    named = {
        name: getattr(parameter.kwarg_definition, "name", None)
        for name, parameter in parameters.items()
    }
    return {name: outside for name, outside in named.items() if outside}


def _detail(error: HTTPException, names: Mapping[str, str]) -> str:
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        return "; ".join(_fault(fault, names) for fault in error.extra) or error.detail
    return error.detail or "the request can't be answered"


def _fault(fault: Any, names: Mapping[str, str]) -> str:
    if not isinstance(fault, dict):
        return str(fault)
    place = fault.get("key") or fault.get("source") or "the request"
    if place == "data":  # what is wrong with one that is there, `bodies` has told
        return "the body is empty; send a JSON object"
    return f"{names.get(place, place)}: {uncapital(str(fault.get('message', 'unfit')))}"


HANDLERS: Final[dict[Any, Any]] = {
    Refusal: refused,
    OutcomePending: pending,
    RedisError: failed,
    LookupError: late,
    WrongKindError: wrong_kind,
    HTTPException: unfit,
    Exception: broken,
}
