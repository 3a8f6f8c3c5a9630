"""Command lines, and their help."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Annotated, Final, Literal
from uuid import uuid4

import msgspec
from litestar import Response
from litestar.params import QueryParameter
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.sentences import ENGLISH
from infra.people.tokens import Scope
from services.app.error_codes import CODE_INFO
from services.app.play import WAIT_SECONDS
from services.app.receipts import Answered
from services.http.api.auth import AnyRequest, Caller, Context
from services.http.api.bodies import TEXT, Key, Wait, check_media_type
from services.http.api.declared import ANYBODY, ApiRoutes, refuses
from services.http.api.problem_details import headers_of_code, receipt_headers
from services.http.context import ApiContext
from services.language import Answer, Origin

_FINE: Final = 200

api = ApiRoutes("command lines")

OUTCOME_HEADER: Final = "Matchpost-Outcome"
"""The header with the outcome of a command as JSON in base64, where the answer itself is text."""

_NO_HEADERS: Final[Mapping[str, str]] = {}


@api.get("/api/help", "Help", ANYBODY, for_guests=True, media_type=TEXT)
def show_help(
    context: Context,
    topic: Annotated[str, QueryParameter(max_length=64, description="a game or a command")] = "",
    lang: Annotated[str, QueryParameter(max_length=8, description="such as `de`")] = ENGLISH.code,
) -> Response[str]:
    """Return the general help, the help of a game, or the syntax of a command."""
    return _text_response(context.language.do(f"help {' '.join(topic.split())} --lang={lang}"))


@api.post(
    "/api/do",
    "Carry out a command line",
    ANYBODY,
    for_guests=True,
    description="The body is a line of the command language in plain UTF-8 (several lines after "
    "`multiple`). The answer is text, with the status of its code. A line that is one command in a "
    "match has its receipt, in base64, in the header `Matchpost-Receipt`, and its outcome, as JSON in "
    "base64, in the header `Matchpost-Outcome`. To start a match, send a token with the scope `play`, or "
    "the password in the line.",
    media_type=TEXT,
)
@refuses(Code.MISSING_SCOPE)
async def do_line(
    request: AnyRequest,
    context: Context,
    key: Key = None,
    wait: Wait = WAIT_SECONDS,
    signer: Annotated[
        Literal["line", "token"],
        QueryParameter(
            description="with `token`, lines leave out `userid password`, because a token with the "
            "scopes `read` and `play` stands for both; a line may still begin them with your own userid"
        ),
    ] = "line",
) -> Response[str]:
    """Carry out a command line, as in a terminal; a token identifies the player."""
    check_media_type(request, TEXT)
    try:
        line = (await request.body()).decode()
    except UnicodeDecodeError:
        raise Refusal(Code.BAD_REQUEST, "the text is not valid UTF-8") from None
    key = key or uuid4().hex
    caller: Caller | None = request.auth
    origin = _origin(request, context, caller)
    if signer == "token":
        origin = _signing(origin, caller)
    answer = await context.wait(lambda: context.language.do(line, key, wait, origin=origin))
    if len(answer.decided) != 1:
        return _text_response(answer)
    (decided,) = answer.decided
    headers = receipt_headers((await context.play.with_receipt(decided)).receipt)
    if not answer.pending:
        headers |= _outcome_headers(decided)
    return _text_response(answer, headers)


def _origin(request: AnyRequest, context: ApiContext, caller: Caller | None) -> Origin:
    """Return the origin of a line; a token counts only if it has the scope `play`."""
    if caller is None:
        return Origin(count=lambda: context.request_limits.check(request))
    proven = caller.account if Scope.PLAY in caller.token.scopes else None
    return Origin(proven, is_member=True, count=lambda: context.app.pace.check(caller.account))


def _signing(origin: Origin, caller: Caller | None) -> Origin:
    """Return the origin of lines that the token signs; `unauthorized` or `missing-scope` if it can't."""
    if caller is None:
        raise Refusal(Code.UNAUTHORIZED, "`signer=token` needs a token; send one, or leave it out")
    for scope in (Scope.READ, Scope.PLAY):
        caller.require(scope)
    return replace(origin, signs=True)


def _outcome_headers(decided: Answered) -> dict[str, str]:
    """Return the header with the outcome of a command; the receipt has a header of its own."""
    return {OUTCOME_HEADER: b64encode(msgspec.json.encode(decided)).decode()}


def _text_response(answer: Answer, extra: Mapping[str, str] = _NO_HEADERS) -> Response[str]:
    status, headers = _FINE, dict(extra)
    if answer.code:
        code = Code(answer.code)
        status = CODE_INFO[code].status
        headers |= {"Matchpost-Code": str(code), **headers_of_code(code, answer.retry_after)}
    return Response(
        f"{answer.text_with_code}\n", status_code=status, headers=headers, media_type=TEXT
    )
