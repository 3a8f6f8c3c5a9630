"""Answers that say no: problem documents after RFC 9457, with the stable codes."""

from typing import Any, Final

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from services.post import Pending
from services.problems import PROBLEMS, server_failure

MEDIA_TYPE: Final = "application/problem+json"

_RETRY_SECONDS: Final = {
    Code.BUSY: 60,
    Code.UNAVAILABLE: 5,
    Code.TOO_FAST: 60,
    Code.TOO_MANY_ATTEMPTS: 900,
}
"""What Retry-After says, where trying again helps."""

_OF_STATUS: Final = {
    400: Code.BAD_REQUEST,
    401: Code.UNAUTHORIZED,
    404: Code.NOT_FOUND,
    405: Code.NOT_ALLOWED,
    406: Code.NOT_ACCEPTABLE,
    413: Code.TOO_LONG,
    415: Code.BAD_REQUEST,
    429: Code.TOO_FAST,
    503: Code.UNAVAILABLE,
}
"""The codes of what the framework refuses."""


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


AnyRequest = Request[Any, Any, Any]


def problem(code: Code, detail: str, status: int | None = None) -> Response[Problem]:
    """Give a refusal as a response."""
    known = PROBLEMS[code]
    status = status or known.status
    headers = {"Retry-After": str(_RETRY_SECONDS[code])} if code in _RETRY_SECONDS else {}
    if status == 401:  # noqa: PLR2004 - which asks for this header
        headers["WWW-Authenticate"] = 'Bearer realm="matchpost"'
    body = Problem(f"/api/errors/{code}", known.meaning, status, detail, code)
    return Response(body, status_code=status, headers=headers, media_type=MEDIA_TYPE)


def refused(_: AnyRequest, reason: Refusal) -> Response[Problem]:
    """Answer a refusal."""
    return problem(reason.code, reason.sentence)


def pending(_: AnyRequest, error: Pending) -> Response[Problem]:
    """Answer that the outcome is not known yet."""
    return problem(Code.PENDING, f"{error}; repeat the command with its key to hear its outcome")


def failed(_: AnyRequest, error: RedisError) -> Response[Problem]:
    """Answer that the server of the matches failed."""
    return problem(Code.UNAVAILABLE, server_failure(error))


def late(_: AnyRequest, error: LookupError) -> Response[Problem]:
    """Answer that lists are being made anew."""
    return problem(Code.UNAVAILABLE, str(error))


def unfit(_: AnyRequest, error: HTTPException) -> Response[Problem]:
    """Answer what the framework refuses: a body or a parameter that is not as it should be."""
    code = _OF_STATUS.get(error.status_code, Code.BAD_REQUEST)
    return problem(code, _detail(error), error.status_code)


def _detail(error: HTTPException) -> str:
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        return "; ".join(_fault(fault) for fault in error.extra) or error.detail
    return error.detail or "the request can't be answered"


def _fault(fault: Any) -> str:
    if not isinstance(fault, dict):
        return str(fault)
    place = fault.get("key") or fault.get("source") or "the body"
    return f"{place}: {fault.get('message', 'unfit')}"


HANDLERS: Final[dict[Any, Any]] = {
    Refusal: refused,
    Pending: pending,
    RedisError: failed,
    LookupError: late,
    HTTPException: unfit,
}
