"""Error answers: problem documents (RFC 9457) with stable codes."""

import logging
from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from infra.languages.wording import wording
from services.app.error_codes import CODE_INFO, retry_seconds, server_failure, unwritten
from services.app.play import CommandPending, OutcomePending, RecordedRefusal
from services.http.api.auth import parameters_of
from services.http.api.bodies import MAX_BODY_BYTES, WrongMediaTypeError, with_choices
from services.http.api.values import ErrorCode
from services.http.middleware import allowed_methods
from services.http.requests import headers_of_language, wanted_language

logger = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"

_BAD, _GONE, _LARGE, _UNAUTHORIZED, _WRONG_METHOD, _WRONG_MEDIA_TYPE = 400, 404, 413, 401, 405, 415

AnyRequest = Request[Any, Any, Any]


RECEIPT_HEADER: Final = "Matchpost-Receipt"
"""The header with a receipt in base64, where the answer itself has no place for it."""


def receipt_headers(receipt: str | None) -> dict[str, str]:
    """Return the header with a receipt; none without one."""
    return {RECEIPT_HEADER: b64encode(receipt.encode()).decode()} if receipt else {}


class Problem(msgspec.Struct, frozen=True):
    """A problem document."""

    type: str
    """URL of the meaning of the code."""
    title: str
    """The meaning of the code."""
    status: int
    """The HTTP status."""
    detail: str
    """The error in a sentence, for people."""
    code: ErrorCode
    """A stable code, for programs."""


class OAuthError(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error as OAuth has it (RFC 6749, 5.2)."""

    error: str
    """A code of the protocol, such as `invalid_grant` or `authorization_pending`."""
    error_description: str = ""
    """The error in a sentence, for people."""
    code: str = ""
    """The stable code of this server, for errors that are none of the protocol."""


def problem_response(
    code: Code,
    detail: str,
    status: int | None = None,
    headers: dict[str, str] | None = None,
    retry_after: int = 0,
) -> Response[Problem]:
    """Return the problem document of a code; `retry_after` as in a `Refusal`."""
    known = CODE_INFO[code]
    status = status or known.status
    body = Problem(f"/api/errors/{code}", known.meaning, status, detail, code)
    headers = {**(headers or {}), **headers_of_code(code, retry_after)}
    return Response(body, status_code=status, headers=headers, media_type=MEDIA_TYPE)


def headers_of_code(code: Code, retry_after: int = 0) -> dict[str, str]:
    """Return the headers that go with a code, whatever the format of the answer."""
    headers = {}
    if seconds := retry_seconds(code, retry_after):
        headers["Retry-After"] = str(seconds)
    if CODE_INFO[code].status == _UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="matchpost"'
    return headers


def answer_refusal(request: AnyRequest, reason: Refusal) -> Response[Problem]:
    """Answer a refusal, in the language of the client if there are words in it."""
    language = wording(wanted_language(request.headers.get("accept-language", "")))
    headers = headers_of_language(reason.text, language)
    if isinstance(reason, RecordedRefusal):
        headers |= receipt_headers(reason.decided.receipt)
    return problem_response(
        *(reason.code, reason.in_language(language)),
        headers=headers,
        retry_after=reason.retry_after,
    )


def answer_pending(_: AnyRequest, error: OutcomePending) -> Response[Problem]:
    """Answer that the outcome is not known yet, and where it will be."""
    if not isinstance(error, CommandPending):
        return problem_response(Code.PENDING, str(error))
    place = f"/api/matches/{error.board}/commands/{error.command}"
    sentence = f"{error}; its outcome will be at {place}"
    return problem_response(Code.PENDING, sentence, headers={"Location": place})


def answer_redis_error(request: AnyRequest, error: RedisError) -> Response[Problem]:
    """Answer that Valkey failed, or that it takes no changes."""
    if refusal := unwritten(error):
        return answer_refusal(request, refusal)
    return problem_response(Code.UNAVAILABLE, server_failure(error))


def answer_rebuilding(request: AnyRequest, error: LookupError) -> Response[Problem]:
    """Answer that lists are being rebuilt."""
    if type(error) is not LookupError:  # such as KeyError, which is a bug
        return answer_unexpected_error(request, error)
    return problem_response(Code.UNAVAILABLE, str(error))


def answer_wrong_media_type(_: AnyRequest, error: WrongMediaTypeError) -> Response[Problem]:
    """Answer a body of a media type that is not accepted."""
    return problem_response(Code.BAD_REQUEST, str(error), _WRONG_MEDIA_TYPE)


def answer_unexpected_error(request: AnyRequest, error: Exception) -> Response[Problem]:
    """Answer an unexpected error, and log it for the operator."""
    # the route, because a path may have a userid or a code in it
    route = request.scope.get("path_template") or "a path without a route"
    logger.error("%s %s failed", request.method, route, exc_info=error)
    return problem_response(
        Code.INTERNAL, "the server failed on this request; the error is in its log"
    )


def answer_http_error(request: AnyRequest, error: HTTPException) -> Response[Problem]:
    """Answer an error of the framework."""
    match error.status_code:
        case 404:
            return problem_response(
                Code.NOT_FOUND, "there is nothing at this path; /api lists all paths"
            )
        case 405:
            return _not_allowed(request)
        case 413:
            sentence = f"the body is longer than {MAX_BODY_BYTES} bytes"
            # the rest of the body is not read
            return problem_response(Code.TOO_LONG, sentence, headers={"Connection": "close"})
        case 400 | 401:
            return problem_response(Code.BAD_REQUEST, _detail(error, request), _BAD)
        case 500 if "disconnected" in error.detail:  # no client is left to read it
            return problem_response(
                Code.BAD_REQUEST, "the connection was closed within the body", _BAD
            )
        case _:
            return answer_unexpected_error(request, error)


def _not_allowed(request: AnyRequest) -> Response[Problem]:
    listed = ", ".join(allowed_methods(request.app, request.scope["path"]))
    sentence = f"{request.method[:24]} is not allowed here; allowed are {listed}"
    return problem_response(Code.NOT_ALLOWED, sentence, headers={"Allow": listed})


def _detail(error: HTTPException, request: AnyRequest) -> str:
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        faults = [_validation_message(fault, request) for fault in error.extra]
        return "; ".join(faults) or error.detail
    return error.detail or "the request can't be answered"


def _validation_message(fault: Any, request: AnyRequest) -> str:
    if not isinstance(fault, dict):
        return str(fault)
    place = fault.get("key") or fault.get("source") or "the request"
    if place == "data":  # `bodies` reports the errors of a body that is not empty
        return "the body is empty; send a JSON object"
    handler: Any = request.scope.get("route_handler")
    # the framework names a parameter as the code does
    known = parameters_of(handler).get(place) if handler else None
    name = getattr(known and known.kwarg_definition, "name", None) or place
    message = with_choices(str(fault.get("message", "invalid")), known and known.annotation)
    return f"{name}: {message}"


_OAUTH_ERRORS: Final = {401: "invalid_client", 403: "access_denied", 500: "server_error"}
_OAUTH_LATER: Final = (429, 503)


def _in_oauth_form(answer: Callable[[Any, Any], Response[Problem]]) -> Callable[[Any, Any], Any]:
    """Return an answer to errors as clients of OAuth understand it: all others would take it for a token."""

    def answered(request: AnyRequest, error: Any) -> Response[OAuthError]:
        found = answer(request, error)
        status, said = found.content.status, found.content
        name = _OAUTH_ERRORS.get(status, "invalid_request")
        name = "temporarily_unavailable" if status in _OAUTH_LATER else name
        headers = {**found.headers, "Cache-Control": "no-store"}
        return Response(
            OAuthError(name, said.detail, said.code), status_code=status, headers=headers
        )

    return answered


HANDLERS: Final[dict[Any, Any]] = {
    Refusal: answer_refusal,
    OutcomePending: answer_pending,
    RedisError: answer_redis_error,
    LookupError: answer_rebuilding,
    WrongMediaTypeError: answer_wrong_media_type,
    HTTPException: answer_http_error,
    Exception: answer_unexpected_error,
}

OAUTH_HANDLERS: Final = {kind: _in_oauth_form(answer) for kind, answer in HANDLERS.items()}
"""The same for the endpoints of OAuth."""
