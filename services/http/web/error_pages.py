"""Error pages. A request by htmx gets only the sentence, which the page shows among its messages."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import Receive, Scope, Send
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from domain.sentences import ENGLISH, Text, text_in
from services.app.error_codes import CODE_INFO, retry_seconds, server_failure, unwritten
from services.app.play import OutcomeNotDurable, OutcomePending
from services.app.sentences import SAY
from services.http.api import problem_details
from services.http.requests import wanted_language
from services.http.web.render import HEADERS, local_path, redirect_to, render
from services.http.web.session import LoginNeededError, Visitor, read_display, visitor

AnyRequest = Request[Any, Any, Any]


_MISSING: Final = (404, 405)
"""Statuses of an address that is no page, or of a form that nobody takes."""


def error_page(
    request: AnyRequest, status: int, text: Text, code: str = "", retry_after: int = 0
) -> Response[Any]:
    """Return an error page with a sentence; for htmx only a message. A plain text is in English."""
    partial = request.headers.get("hx-request") == "true"
    seen = _visitor(request)
    sentence = text_in(text, seen.wording)
    language = ENGLISH.code if isinstance(text, str) else seen.language
    template = "_message.html" if partial else "problem.html"
    back = _local_referer(request.headers.get("referer", ""), request)
    shown = render(
        template,
        seen,
        status=status,
        missing=status in _MISSING,
        sentence=sentence,
        code=code,
        language=language,
        back=back,
    )
    shown.headers.update(HEADERS)
    if code and (seconds := retry_seconds(Code(code), retry_after)):
        shown.headers["Retry-After"] = str(seconds)
    return _as_message(shown) if partial else shown


def _visitor(request: AnyRequest) -> Visitor:
    """Return the visitor of a request, also of one that was refused before its visitor was known."""
    known: Visitor | None = request.state.get("visitor")
    if known is not None:
        return known
    return Visitor(
        proof="",
        secure=False,
        path=request.url.path,
        partial=request.headers.get("hx-request") == "true",
        wanted_language=wanted_language(request.headers.get("accept-language", "")),
        display=read_display(request.cookies),
        known=False,
        masthead=request.app.state.context.app.mastheads.last,
    )


def _as_message(shown: Response[Any]) -> Response[Any]:
    """Add the headers by which htmx shows the answer as a message on the page."""
    shown.headers.update({"HX-Retarget": "#message", "HX-Reswap": "innerHTML"})
    shown.headers["HX-Reselect"] = "unset"
    return shown


def _local_referer(referer: str, request: AnyRequest) -> str:
    """Return the path of the page that sent the form; `/` if this server did not send that page."""
    # without the scheme, because only a proxy in front of the server knows it
    host, _, path = referer.partition("://")[2].partition("/")
    return local_path(f"/{path}") if host == request.url.netloc else "/"


def answer_refusal(request: AnyRequest, reason: Refusal) -> Response[Any]:
    """Answer a refusal, in the language of the visitor if there are words in it."""
    status = CODE_INFO[reason.code].status
    return error_page(request, status, reason.text, reason.code, reason.retry_after)


def answer_pending(request: AnyRequest, why: OutcomePending) -> Response[Any]:
    """Answer that the outcome is not known yet, or that it is not durable."""
    sentence: Text = SAY("pending")
    if isinstance(why, OutcomeNotDurable):
        sentence = f"your request was carried out, but {why}"
    return error_page(request, CODE_INFO[Code.PENDING].status, sentence, Code.PENDING)


def answer_redis_error(request: AnyRequest, error: RedisError) -> Response[Any]:
    """Answer that Valkey failed, or that it takes no changes."""
    if refusal := unwritten(error):
        return answer_refusal(request, refusal)
    return error_page(
        request, CODE_INFO[Code.UNAVAILABLE].status, server_failure(error), Code.UNAVAILABLE
    )


def answer_rebuilding(request: AnyRequest, error: LookupError) -> Response[Any]:
    """Answer that lists are being rebuilt."""
    return error_page(request, CODE_INFO[Code.UNAVAILABLE].status, str(error), Code.UNAVAILABLE)


def answer_http_error(request: AnyRequest, error: HTTPException) -> Response[Any]:
    """Answer an error that the framework raised, such as for a value that is no number."""
    wrong_value = isinstance(error, ValidationException)
    text = SAY("bad-address") if wrong_value else error.detail or "the request can't be answered"
    return _LookedUpPage(error.status_code, request, text)


def answer_not_found(request: AnyRequest, error: HTTPException) -> Response[Any]:
    """Answer that there is no such page. A browser gets a page, a program gets the JSON of the API.

    It handles 404 and 405, because the address to which a form is sent is not a page either.
    """
    shown = "text/html" in request.headers.get("accept", "")
    if shown and not f"{request.url.path}/".startswith("/api/"):
        return _LookedUpPage(error.status_code, request, "there is no such page")
    return problem_details.answer_http_error(request, error)


class _LookedUpPage(Response[Any]):
    """The page of an error at which the visitor may not be known yet, who is then looked up in a thread."""

    def __init__(self, status: int, request: AnyRequest, sentence: Text) -> None:
        super().__init__(None, status_code=status)
        self._request, self._sentence = request, sentence

    def to_asgi_response(self, *args: Any, **options: Any) -> Any:
        """Return an application that looks up the visitor, and answers with the page."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            shown = await asyncio.to_thread(self._page)
            await shown.to_asgi_response(*args, **options)(scope, receive, send)

        return answer

    def _page(self) -> Response[Any]:
        request = self._request
        try:
            if request.method == "GET" and "visitor" not in request.state:
                visitor(request, request.app.state.context)
        except Refusal as reason:
            return answer_refusal(request, reason)
        except RedisError as error:
            return answer_redis_error(request, error)
        return error_page(request, self.status_code or 404, self._sentence)


def answer_login_needed(request: AnyRequest, needed: LoginNeededError) -> Response[Any]:
    """Redirect the visitor to the login; a move that was sent is kept in the address to return to."""
    wanted = needed.back or _requested_path(request)
    query = {} if wanted == "/" else {"next": wanted}
    login = _login_path(query)
    if request.headers.get("hx-request") != "true":
        lost = request.method != "GET" and "?move=" not in wanted
        return redirect_to(_login_path(query | {"over": "yes"}) if lost else login)
    shown = render(
        "_logged_out.html", _visitor(request), status=401, login=login, moved="?move=" in wanted
    )
    return _as_message(shown)


def _login_path(query: Mapping[str, str]) -> str:
    return f"/login?{urlencode(query, safe='/')}" if query else "/login"


def _requested_path(request: AnyRequest) -> str:
    """Return the address of the requested page, or of the page that sent the form."""
    if request.method != "GET":
        return _local_referer(request.headers.get("referer", ""), request)
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


HANDLERS: Final[dict[Any, Any]] = {
    Refusal: answer_refusal,
    OutcomePending: answer_pending,
    RedisError: answer_redis_error,
    LookupError: answer_rebuilding,
    HTTPException: answer_http_error,
    LoginNeededError: answer_login_needed,
}
