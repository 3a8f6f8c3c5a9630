"""Pages that say no. Where htmx asked, the sentence alone, for the place where messages stand."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from litestar import Request, Response
from litestar.exceptions import HTTPException
from redis.exceptions import RedisError

from domain.errors import Code, Refusal
from infra.gateway import OutcomePending
from services.api import problems
from services.app.commands import OutcomeNotDurable
from services.app.error_codes import PROBLEMS, server_failure
from services.web.pages import HEADERS, go, own_path, page
from services.web.visitors import LoginNeededError, Visitor

AnyRequest = Request[Any, Any, Any]


def no(request: AnyRequest, status: int, sentence: str, code: str = "") -> Response[Any]:
    """Return a page, or a part of one, with a sentence."""
    partial = request.headers.get("hx-request") == "true"
    visitor = Visitor(proof="", secure=False, path=request.url.path, partial=partial)
    template = "_message.html" if partial else "problem.html"
    back = _path_of(request.headers.get("referer", ""), request)
    shown = page(template, visitor, status=status, sentence=sentence, code=code, back=back)
    shown.headers.update(HEADERS)
    return _as_message(shown) if partial else shown


def _as_message(shown: Response[Any]) -> Response[Any]:
    """Have htmx put a part of a page where messages stand."""
    shown.headers.update({"HX-Retarget": "#message", "HX-Reswap": "innerHTML"})
    shown.headers["HX-Reselect"] = "unset"
    return shown


def _path_of(referer: str, request: AnyRequest) -> str:
    """Return the page that sent the form, if it is one of ours."""
    # whether the browser spoke TLS is known to the proxy before us, if there is one
    host, _, path = referer.partition("://")[2].partition("/")
    return own_path(f"/{path}") if host == request.url.netloc else "/"


def refused(request: AnyRequest, reason: Refusal) -> Response[Any]:
    """Say why something was refused."""
    return no(request, PROBLEMS[reason.code].status, reason.sentence, reason.code)


def pending(request: AnyRequest, why: OutcomePending) -> Response[Any]:
    """Say that the outcome is not known yet, or that nothing is promised of it."""
    told = "it was taken and is not decided yet; load the page again in a moment"
    if isinstance(why, OutcomeNotDurable):
        told = f"it was carried out, but {why}"
    return no(request, PROBLEMS[Code.PENDING].status, told, Code.PENDING)


def failed(request: AnyRequest, error: RedisError) -> Response[Any]:
    """Say that the server of the matches failed."""
    return no(request, PROBLEMS[Code.UNAVAILABLE].status, server_failure(error), Code.UNAVAILABLE)


def late(request: AnyRequest, error: LookupError) -> Response[Any]:
    """Say that lists are being made anew."""
    return no(request, PROBLEMS[Code.UNAVAILABLE].status, str(error), Code.UNAVAILABLE)


def unfit(request: AnyRequest, error: HTTPException) -> Response[Any]:
    """Say what is wrong with a request as such."""
    return no(request, error.status_code, error.detail or "the request can't be answered")


def lost(request: AnyRequest, error: HTTPException) -> Response[Any]:
    """Say that nothing is there to be shown: to a browser with a page, to a program as the API does.

    For 404, and for 405: the address of a form, typed or loaded again, is no page either.
    """
    shown = "text/html" in request.headers.get("accept", "")
    if shown and not f"{request.url.path}/".startswith("/api/"):
        return no(request, error.status_code, "there is no such page")
    return problems.unfit(request, error)


def login_needed(request: AnyRequest, needed: LoginNeededError) -> Response[Any]:
    """Ask to log in, and come back; a move that was sent is kept in the address to come back to."""
    wanted = needed.back or _wanted(request)
    given = {} if wanted == "/" else {"next": wanted}
    login = _login(given)
    if request.headers.get("hx-request") != "true":
        lost = request.method != "GET" and "?move=" not in wanted
        return go(_login(given | {"over": "yes"}) if lost else login)
    visitor = Visitor(proof="", secure=False, path=request.url.path, partial=True)
    shown = page("_logged_out.html", visitor, status=401, login=login, moved="?move=" in wanted)
    return _as_message(shown)


def _login(given: Mapping[str, str]) -> str:
    return f"/login?{urlencode(given, safe='/')}" if given else "/login"


def _wanted(request: AnyRequest) -> str:
    """Return the page that was asked for, or that sent a form."""
    if request.method != "GET":
        return _path_of(request.headers.get("referer", ""), request)
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


HANDLERS: Final[dict[Any, Any]] = {
    Refusal: refused,
    OutcomePending: pending,
    RedisError: failed,
    LookupError: late,
    HTTPException: unfit,
    LoginNeededError: login_needed,
}
